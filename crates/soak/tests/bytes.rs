//! Power cuts of drives with data: 100 that keep their word, and each way of being worse found.

use flashtwin_serve::faults::Worse;
use flashtwin_soak::bytes::campaign;

#[test]
fn acknowledged_bytes_survive_cuts() {
    let report = campaign(1, 100, Worse::default(), |_| ()).unwrap();
    assert!(report.cuts >= 100 && report.kills > 10, "{report:?}");
    assert!(report.rolled_back > 0, "no cut lost anything: {report:?}");
}

#[test]
#[ignore = "for --full"]
fn acknowledged_bytes_survive_300_cuts() {
    campaign(2, 300, Worse::default(), |_| ()).unwrap();
}

#[test]
fn drives_that_lie_are_found_out() {
    let ways = [
        Worse {
            flush_ignored: true,
            ..Worse::default()
        },
        Worse {
            fua_ignored: true,
            ..Worse::default()
        },
        Worse {
            superblocks_lost: 2,
            ..Worse::default()
        },
        Worse {
            shorn: 3,
            ..Worse::default()
        },
    ];
    for worse in ways {
        let lied = campaign(1, 300, worse, |_| ());
        assert!(lied.is_err(), "{worse:?} was not found: {lied:?}");
    }
}
