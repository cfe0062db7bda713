//! The parts of an SLC cache, and which of them the values of a spec have.
//!
//! A key that belongs to a part says so where it is declared (`Key::only`), with the value that
//! stands where the part is not there. From that follow what a later layer that leaves the part out
//! turns off (`dependents`), what contradicts a spec (`check`), and which values the typed cache
//! is built of ([`policy`]): a variant has the keys of its parts and no others.

use flashtwin_base::Nanos;
use flashtwin_ftl::choices::{DESIGNS, Design, FullRule};
use flashtwin_ftl::policy::{
    self, Admit, Borrowed, CacheMode, Caching, FoldPath, Own, SizeAt, WhenFull,
};

use super::keys::{Fold, NandTier, SlcCache};
pub use super::mechanism::Part;
use super::values::Values;
use super::words::{Admitted, Path};

impl Part {
    /// True if the values have it.
    pub(super) fn is_there(self, values: &Values) -> Option<bool> {
        let cache = SlcCache::read(values);
        let design = cache.mode?;
        let lends = |tier: u64| design.lends() || (design.caches() && tier > 0);
        Some(match self {
            Part::Cache => design.caches(),
            Part::Own => design.owns,
            Part::Sized => design.is_sized(),
            Part::Tier => design.caches() && values.of(NandTier::bits)? > 0,
            Part::Lends => lends(cache.tier_size?),
            Part::Presses => {
                design.caches() && (lends(cache.tier_size?) || !cache.when_full?.bypasses)
            }
            Part::Rule(rule) => cache.when_full?.name == rule.name,
        })
    }

    /// The keys that decide on that.
    pub(super) fn switches(self) -> Vec<&'static str> {
        let [mode, tier_size, when_full] = [
            SlcCache::mode.name,
            SlcCache::tier_size.name,
            SlcCache::when_full.name,
        ];
        match self {
            Part::Cache | Part::Own | Part::Sized => vec![mode],
            Part::Tier => vec![mode, NandTier::bits.name],
            Part::Lends => vec![mode, tier_size],
            Part::Presses => vec![mode, tier_size, when_full],
            Part::Rule(_) => vec![when_full],
        }
    }

    /// Why a key of it does nothing with a design or a rule that does not have it, as the rest of a
    /// sentence that begins with its value.
    pub(super) fn lacking(self, design: &Design, rule: &FullRule) -> String {
        let mode = design.name;
        match self {
            Part::Own | Part::Sized => format!("with mode `{mode}`, which does not use it"),
            Part::Rule(_) => format!("with `{}`, which does not use it", rule.name),
            _ if !design.caches() => format!("with mode `{mode}`: there is no cache to fold"),
            _ => format!("with mode `{mode}`: own blocks give no room back"),
        }
    }

    /// Says what would do instead of the key's value that leaves it out.
    pub(super) fn otherwise(self) -> String {
        let modes = |has: fn(&Design) -> bool| {
            let names = DESIGNS.iter().filter(|design| has(design));
            let names: Vec<&str> = names.map(|design| design.name).collect();
            format!(", or `{}` {}", SlcCache::mode.name, names.join(" or "))
        };
        match self {
            Part::Own => modes(|design| design.owns),
            Part::Sized => modes(Design::is_sized),
            Part::Rule(rule) => {
                format!(", or `{} = \"{}\"`", SlcCache::when_full.name, rule.name)
            }
            _ => String::new(),
        }
    }
}

/// The rule of the values for a full cache; none where a value of it was refused.
pub(super) fn when_full(values: &Values) -> Option<WhenFull> {
    let rule = SlcCache::read(values).when_full?;
    let given = |key: &str| values.number(key);
    let all = rule.keys.iter().all(|own| given(own.name).is_some());
    WhenFull::named(rule.name, &|key| given(key).unwrap_or(0)).filter(|_| all)
}

/// The cache that checked values make; none where one was refused.
pub(super) fn policy(values: &Values) -> Option<policy::SlcCache> {
    let cache = SlcCache::read(values);
    let mode = CacheMode::named(cache.mode?.name)?;
    let own = || cache.static_size.map(Own);
    let borrowed = || {
        let point = |&(fill_milli_percent, bytes): &(u32, u64)| SizeAt {
            fill_milli_percent,
            bytes,
        };
        let points = cache.size_by_fill.as_ref()?;
        Some(match points.is_empty() {
            true => Borrowed::Fixed(cache.size?),
            false => Borrowed::ByFill(points.iter().map(point).collect()),
        })
    };
    let caching = || caching(values, &cache);
    Some(match mode {
        CacheMode::None => policy::SlcCache::None,
        CacheMode::LowerPages => policy::SlcCache::LowerPages,
        CacheMode::Static => policy::SlcCache::Static(own()?, caching()?),
        CacheMode::Dynamic => policy::SlcCache::Dynamic(borrowed()?, caching()?),
        CacheMode::Hybrid => policy::SlcCache::Hybrid(own()?, borrowed()?, caching()?),
        CacheMode::WholeDrive => policy::SlcCache::WholeDrive(caching()?),
    })
}

fn caching(values: &Values, cache: &SlcCache) -> Option<Caching> {
    let limit = cache.admit_limit?;
    let fold = Fold::read(values);
    Some(Caching {
        when_full: when_full(values)?,
        admit: match cache.admit? {
            Admitted::All => Admit::All,
            Admitted::Small => Admit::Small(limit),
            Admitted::Random => Admit::Random(limit),
        },
        worn: cache.worn?,
        tier_bytes: cache.tier_size?,
        reclaim_milli: cache.reclaim? as u32,
        fold: policy::Fold {
            idle_after: fold.idle_after?.map(Nanos),
            reserve_bytes: fold.reserve?,
            pace_milli: fold.pace? as u32,
            low_superblocks: fold.low? as u32,
            high_superblocks: fold.high? as u32,
            rate_bytes_s: Some(fold.rate?).filter(|rate| *rate > 0),
            path: match fold.path? {
                Path::Copyback => FoldPath::Copyback {
                    check_every: fold.check_every? as u32,
                    check_cycles: fold.check_cycles? as u32,
                },
                Path::Controller => FoldPath::Controller,
            },
        },
    })
}

/// True if the cache has blocks of its own that nothing folds.
pub(super) fn is_never_emptied(values: &Values) -> Option<bool> {
    let (cache, fold) = (SlcCache::read(values), Fold::read(values));
    let design = cache.mode?;
    let refills = match when_full(values)? {
        WhenFull::Direct { refill_milli, .. } => refill_milli > 0,
        _ => true,
    };
    let kept = design.owns && !design.lends() && !refills;
    Some(kept && fold.idle_after?.is_none() && cache.tier_size? == 0)
}

/// The size of the largest borrowed part, and the key that gives it.
pub(super) fn borrowed(cache: &SlcCache) -> (Option<u64>, &'static str) {
    let points = cache.size_by_fill.iter().flatten();
    match points.map(|(_, bytes)| *bytes).max() {
        Some(largest) => (Some(largest), SlcCache::size_by_fill.name),
        None => (cache.size, SlcCache::size.name),
    }
}
