//! Warnings: values that are allowed, and that slow a drive down or lose data for a reason that is
//! easy to miss.

use flashtwin_base::Nanos;
use flashtwin_ftl::orders::VictimOrder;
use flashtwin_ftl::policy::{Separation, WhenFull};

use super::check::flash::Flash;
use super::check::gc::{extra_streams, pacing};
use super::quantity::human;
use super::values::Values;
use crate::config::{Config, Flushing};
use crate::spec::keys::{Controller, Drive, Fold, Gc, NandNative, SlcCache};
use crate::waits::Times;

/// Below this share of spare flash, in thousandths, random writes of a full drive are programmed
/// more than twelve times, and no maker ships that.
const LEAST_SPARE_MILLI: u128 = 40;

/// Below this share of native flash, in thousandths, collection gains next to nothing.
const LEAST_BESIDE_CACHE_MILLI: u128 = 25;

/// Worn data that is written anew more often than this wears the drive out by itself.
const LEAST_REST: Nanos = Nanos::from_secs(30 * 86_400);

/// Warnings about a spec, which `flashtwin check` prints, and the wait that they foretell.
pub(super) struct Advice {
    /// A sentence for each warning.
    pub warnings: Vec<String>,
    /// The longest wait that they foretell of a write; 0 where they foretell none.
    pub wait: Nanos,
}

/// A wait that is longer than `controller.longest_wait`, and the sentence that foretells it.
type Foretold = Option<(Nanos, String)>;

pub(super) fn advice(values: &Values, config: &Config) -> Advice {
    let waits = [
        collection_without_a_spare(values, config),
        cache_in_the_spare(values, config),
        own_blocks_folded(values, config),
        collection_in_one_go(values, config),
        folded_in_one_step(values, config),
        full_superblocks_collected(values, config),
    ];
    let others = [
        little_spare(values),
        flushes_ignored(values),
        rewritten_all_the_time(values, config),
        lost_before_refresh(config),
    ];
    let foretold = waits.iter().flatten().map(|(wait, _)| *wait);
    let wait = foretold.max().unwrap_or(Nanos::ZERO);
    let sentences = waits.into_iter().flatten().map(|(_, sentence)| sentence);
    Advice {
        warnings: sentences.chain(others.into_iter().flatten()).collect(),
        wait,
    }
}

/// Native flash, and the bytes of it that are neither the host's nor kept free by collection.
fn spare(values: &Values) -> Option<(u128, u128)> {
    let flash = Flash::read(values)?;
    let kept = u128::from(values.of(Gc::low)?) * flash.superblock();
    let native = flash.native(values)?;
    let capacity = u128::from(values.of(Drive::capacity)?);
    Some((native, native.saturating_sub(capacity + kept)))
}

/// The share of a victim that is still valid, in thousandths, once random writes have gone all over
/// the drive: a share u of what is written is valid in the mean, and of what was written first the
/// share v with u = (v - 1) / ln v (the limit of large blocks, Desnoyers 2014).
fn valid_of_victim_milli(values: &Values) -> Option<u64> {
    valid_beside_milli(values, spare(values)?.1)
}

/// As much, where only some of the flash is spare.
fn valid_beside_milli(values: &Values, spare: u128) -> Option<u64> {
    let capacity = u128::from(values.of(Drive::capacity)?) as f64;
    let share = capacity / (capacity + spare as f64);
    let (mut low, mut high) = (1e-6, 1.0 - 1e-6);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if (middle - 1.0) / libm::log(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some((low * 1000.0) as u64)
}

/// Warns where hardly any flash is spare: collection then moves nearly all of each victim.
fn little_spare(values: &Values) -> Option<String> {
    let (native, spare) = spare(values)?;
    let milli = spare * 1000 / native.max(1);
    if milli >= LEAST_SPARE_MILLI {
        return None;
    }
    let amplified = 1000 / (1000 - valid_of_victim_milli(values)?);
    Some(format!(
        "only {}.{} % of the native flash is spare ({} of {}, without parity and the superblocks \
         that gc.low keeps free): a full drive that is written at random programs each byte about \
         {amplified} times; lower drive.capacity or raise nand.blocks_per_plane",
        milli / 10,
        milli % 10,
        human(spare),
        human(native),
    ))
}

/// Warns where the host is stopped until collection has freed several superblocks, and that takes
/// longer than `controller.longest_wait`.
fn collection_in_one_go(values: &Values, config: &Config) -> Foretold {
    if !pacing(values)?.stops_host {
        return None;
    }
    let valid = valid_of_victim_milli(values)?;
    let freed = values.of(Gc::high)? + 1 - values.of(Gc::low)?;
    // Each victim frees what of it is not valid.
    let victims = (freed * 1000).div_ceil(1000 - valid);
    let takes = Times::of(config).emptied(valid).0.saturating_mul(victims);
    let most = config.controller.longest_wait;
    (takes > most.0).then(|| {
        let says = format!(
            "gc.pace stops the host until gc.high superblocks are free: on a full drive a write \
             may wait {:.1} s, longer than controller.longest_wait; write gc.pace = \"paced\"",
            takes as f64 / 1e9
        );
        (Nanos(takes), says)
    })
}

/// Warns where the host waits until a full cache is folded by a step that takes long.
fn folded_in_one_step(values: &Values, config: &Config) -> Foretold {
    let caching = config.policy.cache.caching()?;
    let WhenFull::FoldFirst { step_bytes } = caching.when_full else {
        return None;
    };
    let flash = Flash::read(values)?;
    let (native, _) = spare(values)?;
    // No cache holds more than all of the flash at one bit a cell.
    let step = u128::from(step_bytes).min(native / flash.bits);
    let parts = (step * 1000 / flash.superblock()) as u64;
    let takes = Times::of(config).emptied(parts);
    (takes > config.controller.longest_wait).then(|| {
        let says = format!(
            "slc_cache.when_full folds {} before the host goes on (fold.step): a write may wait \
             {:.1} s; write a smaller fold.step",
            human(step),
            takes.as_secs_f64(),
        );
        (takes, says)
    })
}

/// Warns where collection may take superblocks that are full of valid data, several in a row, and
/// the host waits for longer than `controller.longest_wait` until one gains something.
fn full_superblocks_collected(values: &Values, config: &Config) -> Foretold {
    let most = config.policy.gc.victim.most_full_in_turn();
    let takes = Times::of(config)
        .emptied(1000)
        .0
        .saturating_mul(most.into());
    let waits = !pacing(values)?.stops_host && takes > config.controller.longest_wait.0;
    (waits && most > 1).then(|| {
        let says = format!(
            "gc.policy may choose up to {most} superblocks in a row that are full of valid data: \
             a write may wait {:.1} s until one gains something; write gc.policy = \"greedy\"",
            takes as f64 / 1e9
        );
        (Nanos(takes), says)
    })
}

/// Warns where a flush promises nothing.
fn flushes_ignored(values: &Values) -> Option<String> {
    let ignored =
        values.of(Controller::flush)? == Flushing::Ignored && !values.of(Controller::plp)?;
    ignored.then(|| {
        "controller.flush is \"ignore\": flushes and FUA are answered at once, and a power cut may \
         take what they covered"
            .to_owned()
    })
}

/// Warns where a host that has used up what is free above the reserve may wait for longer than
/// `controller.longest_wait` until collection has gained a superblock. Where `gc.low` is one above
/// the reserve, collection begins when the host has taken the last one, and the copies of a victim
/// take the first that comes free. Streams beyond the usual ones take one each whenever theirs is
/// full. Of a victim of which the share v is valid 1 - v is gained, so that the wait is at most the
/// time of 1 / (1 - v) victims: in 13 drives of 200 superblocks, full and overwritten at random,
/// the longest was a fiftieth to four ninths of that, and 0.3 to 3.4 times the time of one victim.
/// With one more superblock above the reserve, and the usual streams, no write waited.
fn collection_without_a_spare(values: &Values, config: &Config) -> Foretold {
    let [low, high, reserve] = [Gc::low, Gc::high, Gc::reserve].map(|key| values.of(key));
    let (low, high, least) = (low?, high?, reserve? + 1);
    let extra = extra_streams(values)?;
    if pacing(values)?.stops_host || (low != least && extra == 0) {
        return None;
    }
    let valid = valid_of_victim_milli(values)?;
    let victim = Times::of(config).emptied(valid);
    let gained = Nanos(victim.0.saturating_mul(1000) / (1000 - valid));
    let waits = format!(
        "when a full drive has no free superblock left for the host, a write waits until one is \
         collected, {:.1} s as a rule and {:.1} s at most",
        victim.as_secs_f64(),
        gained.as_secs_f64()
    );
    let next = least + 1;
    let most = config.controller.longest_wait;
    if low != least {
        return (gained > most).then(|| {
            let says = format!(
                "{extra} more superblocks are open at a time, for data that is kept apart \
                 (gc.separation, fdp.handles); {waits}; lower drive.capacity, or keep less apart"
            );
            (gained, says)
        });
    }
    if high == least && values.of(Gc::separation)? != Separation::None {
        let says = format!(
            "gc.low and gc.high are both {low}, one above gc.reserve, so collection begins late; \
             {waits}; write gc.high = {next} or more"
        );
        return Some((gained, says));
    }
    (victim > most).then(|| {
        let says = format!(
            "gc.low is {low}, one above gc.reserve, so collection begins late; {waits}; write \
             gc.low = {next} or more"
        );
        (gained, says)
    })
}

/// True where a cache borrows blocks, and all data of the host goes through it: the host then waits
/// for what is folded. One that goes past a full cache does not, since folding frees more than it
/// uses while little is free, and leaves the cache's own blocks alone: no write of a whole 860 QVO
/// waited for longer than 0.2 s with 0.2 % of the flash left beside the cache.
fn host_waits_for_folding(values: &Values) -> Option<bool> {
    let when_full = values.of(SlcCache::when_full)?;
    let lends = values.of(SlcCache::mode)?.lends();
    Some(lends && !when_full.bypasses && !pacing(values)?.stops_host)
}

/// Warns where a cache through which all data goes may borrow nearly all that is spare on a full
/// drive: it borrows while more than `fold.reserve` is free. Until it is folded, collection moves
/// nearly all of each victim, and a host that has used up what is free waits for the end of one. On
/// drives of 160 superblocks writes took half of it to all of it.
fn cache_in_the_spare(values: &Values, config: &Config) -> Foretold {
    if !host_waits_for_folding(values)? {
        return None;
    }
    let design = values.of(SlcCache::mode)?;
    let (native, spare) = spare(values)?;
    let flash = Flash::read(values)?;
    let table = values.of(SlcCache::size_by_fill)?;
    let full = table.last().map(|&(_, size)| size);
    let full = full.or_else(|| values.of(SlcCache::size))?;
    let borrowed = match design.is_sized() {
        true => flash.slc_superblocks(full) * flash.superblock(),
        false => spare,
    };
    let kept = u128::from(values.of(Fold::reserve)?);
    let left = spare.saturating_sub(borrowed).max(kept);
    let valid = valid_beside_milli(values, left)?;
    let victim = Times::of(config).emptied(valid);
    let least = native * LEAST_BESIDE_CACHE_MILLI / 1000;
    (left < least && victim > config.controller.longest_wait).then(|| {
        let says = format!(
            "the cache may borrow all but {} of the {} that are spare on a full drive: until it is \
             folded, collection moves {} % of each victim, and a write may wait {:.1} s for one; \
             write fold.reserve = \"{}\" or more",
            human(left),
            human(spare),
            valid / 10,
            victim.as_secs_f64(),
            human(least * 6 / 5),
        );
        (victim, says)
    })
}

/// Warns where a cache through which all data goes has blocks of its own beside borrowed ones, and
/// to fold one takes long on a full drive, since that frees no native block: what they held needs
/// room that collection has to gain first. On drives of 160 superblocks with 3 % of the flash to
/// spare writes took 0.8 to 1.9 times as long, and with 11 % a tenth to a quarter of it.
fn own_blocks_folded(values: &Values, config: &Config) -> Foretold {
    let own = values.of(SlcCache::static_size)?;
    if own == 0 || !host_waits_for_folding(values)? {
        return None;
    }
    let valid = valid_of_victim_milli(values)?;
    let bits = u64::from(config.part.geometry.cell.bits());
    let victim = Times::of(config).emptied(valid);
    // A superblock in SLC mode holds one part in `bits` of a native one, and a victim gains what
    // of it is not valid. The host waits for two: its data takes one, and one is folded for it.
    let takes = Nanos(victim.0.saturating_mul(2000) / (bits * (1000 - valid)));
    (takes > config.controller.longest_wait).then(|| {
        let says = format!(
            "{} of the cache are blocks of its own, and to fold those frees no native block: where \
             a full drive has none left, a write may wait {:.1} s until there is room for one; \
             write slc_cache.static_size = 0, with slc_cache.size larger by as much",
            human(own.into()),
            takes.as_secs_f64(),
        );
        (takes, says)
    })
}

/// Warns where data that is written at the end of the rated life soon has as many wrong bits as
/// `errors.refresh_at` allows, by the rates of [`flashtwin_nand::error`]: a drive without a load
/// then writes itself anew again and again, and hardly does anything else where new data has them.
fn rewritten_all_the_time(values: &Values, config: &Config) -> Option<String> {
    let errors = &config.errors;
    let rated = values.of(NandNative::endurance)?;
    let cycles = values.of(Drive::initial_cycles)?.max(rated);
    let wear = cycles as f64 / rated as f64;
    let average = errors.average_at(errors.refresh_at);
    let rest = errors.native.age_at(average, wear, 0.0);
    if errors.correctable == 0 || errors.refresh_at == 0.0 || rest >= LEAST_REST {
        return None;
    }
    let days = rest.as_secs_f64() / 86_400.0;
    let needed = errors.native.bits(wear, LEAST_REST, 0.0) * (1.0 + errors.page_spread);
    let times = (needed / f64::from(errors.correctable) * 10.0).ceil() / 10.0;
    Some(format!(
        "after {cycles} cycles data is written anew {}: a drive at rest rewrites itself all the \
         time; write errors.refresh_at = {times:.1} or more, or raise errors.correctable",
        match rest {
            Nanos::ZERO => "as soon as it is written".to_owned(),
            _ => format!("after {days:.1} days"),
        }
    ))
}

/// Warns where data is beyond what any decode puts right before it is written anew.
fn lost_before_refresh(config: &Config) -> Option<String> {
    let errors = &config.errors;
    let lost = errors.correctable > 0 && errors.refresh_at > errors.most();
    lost.then(|| {
        format!(
            "data is lost before it is written anew: the retry ladder corrects {:.1} times \
             errors.correctable, and errors.refresh_at is {}",
            errors.most(),
            errors.refresh_at
        )
    })
}
