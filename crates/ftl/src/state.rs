//! What of the firmware is saved, and in which order.
//!
//! The order and the names are those of snapshots from before the firmware had rooms, so that they
//! can still be loaded. That is why the pieces of two rooms are shown one by one. Firmware and
//! rooms are taken apart without a rest pattern, as [`state!`](flashtwin_base::state!) does it: a
//! field that is added has to be given its place before anything builds.

use flashtwin_base::State;
use flashtwin_base::state::Visitor;

use crate::collect::Collector;
use crate::ftl::Ftl;
use crate::orders::Policies;
use crate::writing::Writing;

impl<P: Policies> State for Ftl<P> {
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        let Ftl {
            layout: _,
            policy: _,
            policies,
            sharing,
            map,
            paged,
            blocks,
            writing,
            cache,
            collection,
            wear,
            packing,
            health,
            counters,
            cuts,
        } = self;
        let Writing {
            streams,
            in_use: _,
            lanes,
            passes,
            buffer,
            sequence,
            starved,
            row_lists: _,
        } = writing;
        let Collector {
            mover,
            memory,
            chance,
            alone: _,
        } = collection;
        visitor.kept("Ftl.counters", counters)?;
        visitor.kept("Ftl.sequence", sequence)?;
        visitor.kept("Ftl.starved", starved)?;
        visitor.kept("Ftl.chance", chance)?;
        map.visit(visitor)?;
        paged.visit(visitor)?;
        blocks.visit(visitor)?;
        streams.visit(visitor)?;
        lanes.visit(visitor)?;
        passes.visit(visitor)?;
        buffer.visit(visitor)?;
        cache.visit(visitor)?;
        mover.visit(visitor)?;
        wear.visit(visitor)?;
        packing.visit(visitor)?;
        health.visit(visitor)?;
        memory.visit(visitor)?;
        cuts.visit(visitor)?;
        policies.visit(visitor)?;
        sharing.visit(visitor)
    }
}
