//! What the drive draws, by activity and by state.

use super::{Key, fixed, policy, quantity, quantity_or_never, quantity_or_zero};
use crate::spec::quantity::Dimension::{Power, Time};

pub(super) const KEYS: &[Key] = &[
    fixed(
        "power.flash_read",
        quantity_or_zero(Power),
        "\"82.5 mW\"",
        "What a plane draws while its die senses a page: 25 mA at 3.3 V are usual.",
    )
    .or("\"82.5 mW\""),
    fixed(
        "power.flash_program",
        quantity_or_zero(Power),
        "\"82.5 mW\"",
        "What a plane draws while its die programs.",
    )
    .or("\"82.5 mW\""),
    fixed(
        "power.flash_erase",
        quantity_or_zero(Power),
        "\"82.5 mW\"",
        "What a plane draws while its die erases.",
    )
    .or("\"82.5 mW\""),
    fixed(
        "power.flash_transfer",
        quantity_or_zero(Power),
        "\"16.5 mW\"",
        "What a die draws while its data crosses the channel: 5 mA at 3.3 V.",
    )
    .or("\"16.5 mW\""),
    fixed(
        "power.flash_standby",
        quantity_or_zero(Power),
        "\"33 uW\"",
        "What each die draws at all times: 10 uA at 3.3 V.",
    )
    .or("\"33 uW\""),
    fixed(
        "power.link",
        quantity_or_zero(Power),
        "\"150 mW\"",
        "What sending data over the host link draws on top.",
    )
    .or("\"150 mW\""),
    fixed(
        "power.active",
        quantity(Power),
        "\"500 mW\"",
        "The drive without its flash, while a command is outstanding or the flash works.",
    )
    .or("\"500 mW\""),
    fixed(
        "power.idle",
        quantity(Power),
        "\"250 mW\"",
        "The drive without its flash, ready and with nothing to do.",
    )
    .or("\"250 mW\""),
    policy(
        "power.light.after",
        quantity_or_never(Time),
        "\"1 s\"",
        "The first low-power state (SATA slumber, NVMe PS3) is entered after so long with nothing \
         to do.",
    )
    .or("\"never\""),
    fixed(
        "power.light.power",
        quantity_or_zero(Power),
        "\"50 mW\"",
        "The drive without its flash in the first low-power state.",
    )
    .or("\"50 mW\""),
    fixed(
        "power.light.entry",
        quantity_or_zero(Time),
        "\"1 ms\"",
        "Time to enter the state, at the power of an idle drive; a command waits for its end.",
    )
    .or("0"),
    fixed(
        "power.light.exit",
        quantity_or_zero(Time),
        "\"10 ms\"",
        "Time to leave the state: the command that wakes the drive waits for it.",
    )
    .or("0"),
    policy(
        "power.deep.after",
        quantity_or_never(Time),
        "\"10 s\"",
        "The second low-power state (SATA DevSleep, NVMe PS4) is entered after so long with \
         nothing to do.",
    )
    .or("\"never\""),
    fixed(
        "power.deep.power",
        quantity_or_zero(Power),
        "\"5 mW\"",
        "The drive without its flash in the second low-power state.",
    )
    .or("\"5 mW\""),
    fixed(
        "power.deep.entry",
        quantity_or_zero(Time),
        "\"5 ms\"",
        "Time to enter the state, at the power of the state before it.",
    )
    .or("0"),
    fixed(
        "power.deep.exit",
        quantity_or_zero(Time),
        "\"20 ms\"",
        "Time to leave the state: the command that wakes the drive waits for it.",
    )
    .or("0"),
];
