//! Whether a drive that was read can be: see [`Drive::audit`].

use crate::engine::Drive;

impl Drive {
    /// What of a loaded state no drive could have come to; costs a pass over all tables.
    pub(super) fn audit(&self) -> Result<(), String> {
        Ok(())
    }
}
