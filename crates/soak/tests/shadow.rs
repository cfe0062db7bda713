//! The plain map itself: what it lets pass after a cut and what it does not.

use flashtwin_ftl::Placement;
use flashtwin_soak::shadow::Shadow;

fn change(stamp: u64, tag: u32, trimmed: bool) -> Placement {
    Placement {
        lpn: 0,
        units: 1,
        stamp,
        trimmed,
        tag,
    }
}

/// A unit that was written as 1 and 2 (and trimmed as 3 if `trim`); the first `durable` of these
/// were acknowledged and flushed, the others acknowledged.
fn told(durable: u32, trim: bool, trims_last: bool) -> Shadow {
    let mut shadow = Shadow::new(1, trims_last);
    for tag in 1..=2 + u32::from(trim) {
        shadow.changed(&[change(u64::from(tag), tag, tag == 3)]);
        shadow.acknowledged(tag, false);
        if tag == durable {
            shadow.flushed(shadow.covered());
        }
    }
    shadow
}

fn after(mut shadow: Shadow, found: Option<u64>) -> Result<u64, String> {
    shadow.after_cut(|_| found)
}

#[test]
fn a_unit_holds_its_floor_or_something_later() {
    for (durable, found, right) in [
        (0, None, true),
        (0, Some(1), true),
        (0, Some(2), true),
        (1, None, false),
        (1, Some(1), true),
        (1, Some(2), true),
        (2, Some(1), false),
        (2, Some(2), true),
        (2, None, false),
        (2, Some(9), false),
    ] {
        let found = after(told(durable, false, true), found);
        assert_eq!(found.is_ok(), right, "{durable}: {found:?}");
    }
}

#[test]
fn a_kept_trim_keeps_and_another_does_not() {
    assert!(after(told(3, true, true), None).is_ok());
    assert!(after(told(3, true, true), Some(2)).is_err());
    assert!(after(told(2, true, true), Some(2)).is_ok());
    assert!(after(told(2, true, true), None).is_ok());
    assert!(after(told(2, true, true), Some(1)).is_err());
    assert!(after(told(3, true, false), Some(1)).is_ok());
}

#[test]
fn what_was_read_once_is_the_new_floor() {
    let mut shadow = told(0, false, true);
    assert!(shadow.after_cut(|_| Some(1)).is_ok());
    assert!(shadow.at_rest(|_| Some(1)).is_ok());
    assert!(shadow.at_rest(|_| None).is_err());
    assert!(shadow.after_cut(|_| Some(2)).is_err());
}

#[test]
fn nothing_comes_back_after_a_purge() {
    let mut shadow = told(2, false, true);
    shadow.purged();
    assert!(shadow.at_rest(|_| None).is_ok());
    assert!(after(shadow, Some(2)).is_err());
}
