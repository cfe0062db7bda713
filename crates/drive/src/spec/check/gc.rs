//! Checks that the policies of garbage collection agree with each other and with the flash.

use flashtwin_ftl::choices::{CacheMode, Pace, Pacing};
use flashtwin_ftl::policy::{Isolation, Separation};

use super::super::quantity::{human, milli_text};
use super::super::value::Datum;
use super::super::values::Values;
use super::Findings;
use super::flash::Flash;
use crate::config::LinkKind;
use crate::spec::keys::{Compression, Drive, Fdp, Gc, Link, SlcCache, Wear};

pub(super) fn check(found: &mut Findings<'_>) {
    collection(found);
    idle_collection(found);
    separation(found);
    handles(found);
}

/// How the host waits for collection, as the values say.
pub(in crate::spec) fn pacing(values: &Values) -> Option<&'static Pacing> {
    values.of(Gc::pace).map(Pace::pacing)
}

/// Open superblocks that a separation needs beyond those that every drive has.
pub(in crate::spec) fn extra_streams(values: &Values) -> Option<u64> {
    let (host, collected) = values.of(Gc::separation)?.classes();
    let extra = u64::from(host + collected - 2);
    let handles = values.of(Fdp::handles)? - 1;
    let isolated = match values.of(Fdp::isolation)? {
        Isolation::Persistent => 2,
        Isolation::Initial => 1,
    };
    Some(extra + isolated * handles)
}

/// Those of them that take the host's data.
pub(super) fn extra_host_streams(values: &Values) -> Option<u64> {
    let divided = values.of(Gc::separation)?.classes().0 - 1;
    Some(u64::from(divided).max(values.of(Fdp::handles)? - 1))
}

/// Handles choose among native superblocks, so there must be no cache before them; and no
/// separation of the firmware's own may divide the host's data as well.
fn handles(found: &mut Findings<'_>) -> Option<()> {
    let values = found.values;
    let persistent = values.of(Fdp::isolation)? == Isolation::Persistent;
    if values.of(Fdp::handles)? == 1 {
        if persistent {
            let message = "there is one handle, and nothing to isolate its data from";
            found.add(Fdp::isolation, message, "write more `fdp.handles`");
        }
        return None;
    }
    let alone = match values.of(Gc::separation)? {
        Separation::Gc => true,
        Separation::None => !persistent,
        Separation::ByLifetime(_) | Separation::Oracle { .. } => false,
    };
    let cached = SlcCache::read(values).mode? != CacheMode::None.design();
    if values.of(Link::kind)? == LinkKind::Sata {
        let hint = "write `link.kind = \"nvme\"`, or `fdp.handles = 1`";
        found.add(Fdp::handles, "placement handles are NVMe's", hint);
    }
    if cached {
        let message = "data of all handles would share the SLC cache";
        let hint = "write `slc_cache.mode = \"none\"`, or `fdp.handles = 1`";
        found.add(Fdp::handles, message, hint);
    }
    if !alone {
        let message = "placement handles and `gc.separation` would both divide the host's data";
        let hint = "write `gc.separation = \"gc\"`, or `fdp.handles = 1`";
        found.add(Gc::separation, message, hint);
    }
    Some(())
}

fn collection(found: &mut Findings<'_>) -> Option<()> {
    let values = found.values;
    let (low, reserve) = (values.of(Gc::low), values.of(Gc::reserve));
    if let (Some(low), Some(reserve)) = (low, reserve)
        && low <= reserve
    {
        let message =
            format!("collection begins below {low} free superblocks and {reserve} are held back");
        found.add(
            Gc::low,
            message,
            format!("write at least {}, or lower `gc.reserve`", reserve + 1),
        );
    }
    let (low, high) = (low?, values.of(Gc::high)?);
    if high < low {
        let message = format!("collection ends at {high} free superblocks but begins below {low}");
        found.add(Gc::high, message, format!("write at least {low}"));
    }
    Some(())
}

/// Collection in idle time has to free more superblocks than ordinary collection does.
fn idle_collection(found: &mut Findings<'_>) -> Option<()> {
    let (high, target) = (
        found.values.of(Gc::high)?,
        found.values.of(Gc::idle_target)?,
    );
    let never = found.values.entry(Gc::idle_after)?.datum == Datum::Never;
    if !never && target <= high {
        let message = format!(
            "collection in idle time ends at {target} free superblocks, and {high} are kept free \
             anyway"
        );
        found.add(
            Gc::idle_target,
            message,
            format!("write more than {high}, or `gc.idle_after = \"never\"`"),
        );
    }
    Some(())
}

/// The fewest free superblocks that collection has to begin below, for the streams of a separation
/// or of handles to be opened; none where there are no such streams.
pub(in crate::spec) fn least_low(values: &Values) -> Option<u64> {
    let extra = extra_streams(values).filter(|&extra| extra > 0)?;
    Some(values.of(Gc::reserve)? + 2 + extra)
}

/// The streams of a separation have no superblocks set aside: each is opened while more than the
/// reserve is free, so collection has to begin early enough.
fn separation(found: &mut Findings<'_>) -> Option<()> {
    let fails = found.values.of(Wear::program_failures)? > 0;
    if fails && found.values.of(Gc::separation)? == Separation::None {
        let message = "collected data shares the host's programs, and those may fail";
        let hint = "write `gc.separation = \"gc\"`, or `wear.program_failures = 0`";
        found.add(Gc::separation, message, hint);
    }
    let packs = found.values.of(Compression::best_ratio)? > 1;
    if packs && found.values.of(Gc::separation)? == Separation::None {
        let message = "with compression collected data is packed by itself";
        let hint = "write `gc.separation = \"gc\"`, or `compression.best_ratio = 1`";
        found.add(Gc::separation, message, hint);
    }
    let least = least_low(found.values)?;
    let (low, reserve) = (found.values.of(Gc::low)?, found.values.of(Gc::reserve)?);
    let extra = extra_streams(found.values)?;
    if low < least {
        let message = format!(
            "with {low} free superblocks, {reserve} of them held back, the {extra} more that this \
             separation writes to are hardly ever opened"
        );
        found.add(Gc::low, message, format!("write at least {least}"));
    }
    oracle(found)
}

/// Hot data has to fit into the hot pool, and the rest into the other.
fn oracle(found: &mut Findings<'_>) -> Option<()> {
    if !found.values.of(Gc::separation)?.divides_pools() {
        return None;
    }
    if SlcCache::read(found.values).mode? != CacheMode::None.design() {
        let message = "hot and cold data would share the SLC cache";
        let hint = "write `slc_cache.mode = \"none\"`, or another `gc.separation`";
        found.add(Gc::separation, message, hint);
    }
    for key in [Gc::hot_share, Gc::hot_pool] {
        let share = found.values.of(key)?;
        if share == 0 || share >= 1000 {
            let message = format!("{} is not a share between 0 and 1", milli_text(share));
            found.add(key, message, "write a number between 0 and 1");
            return None;
        }
    }
    for (name, holds, wants) in small_pools(found.values)? {
        let message = format!(
            "the {name} pool has {} for {} of data",
            human(holds),
            human(wants)
        );
        let hint =
            "give each pool more flash than data, as `gc.hot_pool` equal to `gc.hot_share` does";
        found.add(Gc::hot_pool, message, hint);
    }
    Some(())
}

/// The pools of an oracle that have no more flash than data: name, flash and data in bytes.
pub(in crate::spec) fn small_pools(values: &Values) -> Option<Vec<(&'static str, u128, u128)>> {
    if !values.of(Gc::separation)?.divides_pools() {
        return None;
    }
    let capacity = u128::from(values.of(Drive::capacity)?);
    let flash = Flash::read(values)?.native(values)?;
    let share = u128::from(values.of(Gc::hot_share)?);
    let pool = u128::from(values.of(Gc::hot_pool)?);
    let cold = (1000_u128.checked_sub(share)?, 1000_u128.checked_sub(pool)?);
    let pools = [("hot", share, pool), ("cold", cold.0, cold.1)];
    let pools = pools.map(|(name, data, pool)| (name, flash * pool / 1000, capacity * data / 1000));
    Some(
        pools
            .into_iter()
            .filter(|(_, holds, wants)| wants >= holds)
            .collect(),
    )
}
