//! Checks that bad blocks leave enough good ones, that the end of life can be reached, and that the
//! steps of read retry correct more errors.

use flashtwin_ftl::policy::ReadOnlyAt;

use super::super::values::Values;
use super::Findings;
use crate::spec::keys::{
    Drive, Errors, ErrorsNative, ErrorsSlc, Fold, Name, Nand, NandNative, PERCENT_MAX_MILLI, Wear,
};

pub(super) fn check(found: &mut Findings<'_>) {
    end(found);
    used(found);
    corrections(found);
}

/// A share of weak or bad blocks, unless it was refused.
pub(super) fn share(values: &Values, key: Name<u64>) -> Option<u64> {
    values.of(key).filter(|s| *s <= PERCENT_MAX_MILLI)
}

/// True if a plane has more spares than blocks of it may be bad from the factory.
fn bears(values: &Values, spares: u64) -> Option<bool> {
    let blocks = u128::from(values.of(Nand::blocks_per_plane)?) + u128::from(spares);
    let bad = lost(share(values, Wear::bad_percent)?, blocks, 0);
    Some(bad < u128::from(spares))
}

/// The fewest spares with which a drive that ends when they are gone does not end at once; none
/// where it has as many, or no number is enough.
pub(in crate::spec) fn least_spares(values: &Values) -> Option<u64> {
    let early = values.of(Wear::read_only_at)? == ReadOnlyAt::SparesGone;
    let has = values.of(Wear::spares)?;
    if !early || bears(values, has)? {
        return None;
    }
    let mut more = has + 1..values.of(Nand::blocks_per_plane)?;
    more.find(|&spares| bears(values, spares) == Some(true))
}

fn end(found: &mut Findings<'_>) -> Option<()> {
    let early = found.values.of(Wear::read_only_at)? == ReadOnlyAt::SparesGone;
    if early && found.values.of(Wear::spares)? == 0 {
        let message = "the drive ends when a plane has no spare block, and there are none";
        let hint = "write how many there are in `wear.spares`, or \"reserve-gone\"";
        found.add(Wear::read_only_at, message, hint);
        return None;
    }
    if early && !bears(found.values, found.values.of(Wear::spares)?)? {
        let spares = found.values.of(Wear::spares)?;
        let message = format!(
            "bad blocks may take all {spares} spares of a plane: the drive would end before it \
             begins"
        );
        let hint = match least_spares(found.values) {
            Some(least) => format!("write at least {least} in `wear.spares`, or \"reserve-gone\""),
            None => "write \"reserve-gone\", or fewer bad blocks".to_owned(),
        };
        found.add(Wear::read_only_at, message, hint);
    }
    Some(())
}

/// A used drive has not come to its end.
fn used(found: &mut Findings<'_>) -> Option<()> {
    let cycles = found.values.of(Drive::initial_cycles)?;
    let rated = found.values.of(NandNative::endurance)?;
    if found.values.of(Wear::read_only_at)? == ReadOnlyAt::RatedWear && cycles >= rated {
        let message = format!("a drive that ends at its rated life of {rated} cycles has no more");
        let hint = "write fewer, or another end in `wear.read_only_at`";
        found.add(Drive::initial_cycles, message, hint);
    }
    Some(())
}

/// A key that acts on bit errors needs bit errors, and one for checks of folds needs such checks.
fn corrections(found: &mut Findings<'_>) -> Option<()> {
    let without = found.values.of(Errors::correctable)? == 0;
    let off = "write what the code corrects in `errors.correctable`, as 72";
    for key in [ErrorsSlc::read_limit, ErrorsNative::read_limit] {
        if without && found.values.of(key)? > 0 {
            found.add(key, "there are no bit errors", off);
        }
    }
    let fold = Fold::read(found.values);
    let share = fold.check_errors?;
    if share > 0 && without {
        found.add(Fold::check_errors, "there are no bit errors", off);
    } else if share > 0 && fold.check_every? == 0 {
        let hint = "write how often in `fold.check_every`, or 0";
        found.add(Fold::check_errors, "folds are not checked", hint);
    }
    Some(())
}

/// Superblocks that a die group with `planes` planes of `blocks` blocks each may lose to blocks
/// that are bad or weak with this share: the mean of a plane and three deviations, beyond what
/// spares make good.
pub(super) fn lost(share_milli: u64, blocks: u128, spares: u128) -> u128 {
    let mean_milli = u128::from(share_milli) * blocks / 100;
    let deviation = (mean_milli.div_ceil(1000)).isqrt();
    let most = mean_milli.div_ceil(1000) + if mean_milli > 0 { 3 * deviation + 1 } else { 0 };
    most.saturating_sub(spares).min(blocks)
}
