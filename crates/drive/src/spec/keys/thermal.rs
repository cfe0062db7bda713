//! How warm the drive gets, and what its firmware does about it.

use super::{Key, Kind, fixed, policy, quantity, quantity_or_never, quantity_or_zero};
use crate::spec::quantity::Dimension::{HeatCapacity, Temperature, ThermalResistance};

pub(super) const KEYS: &[Key] = &[
    fixed(
        "thermal.ambient",
        quantity_or_zero(Temperature),
        "\"25 C\"",
        "The air around the drive, and the drive when it is switched on.",
    )
    .or("\"25 C\""),
    fixed(
        "thermal.resistance",
        quantity(ThermalResistance),
        "\"12 K/W\"",
        "How much warmer than still air the drive gets for each watt.",
    )
    .or("\"12 K/W\""),
    fixed(
        "thermal.capacity",
        quantity(HeatCapacity),
        "\"45 J/K\"",
        "Heat that warms the drive by one degree; with the resistance it makes the time constant.",
    )
    .or("\"45 J/K\""),
    fixed(
        "thermal.fan",
        Kind::Factor,
        "2",
        "Moving air: the thermal resistance is divided by it; 1 = still air.",
    )
    .or("1"),
    fixed(
        "thermal.warning",
        quantity(Temperature),
        "\"75 C\"",
        "From here on the drive warns and counts the minutes.",
    )
    .or("\"75 C\""),
    fixed(
        "thermal.critical",
        quantity(Temperature),
        "\"80 C\"",
        "From here on the minutes count as critical.",
    )
    .or("\"80 C\""),
    policy(
        "thermal.throttle.start",
        quantity_or_never(Temperature),
        "\"70 C\"",
        "The firmware slows dies and host down from this temperature on (TMT1 of NVMe).",
    )
    .or("\"never\""),
    policy(
        "thermal.throttle.stop",
        quantity(Temperature),
        "\"65 C\"",
        "Full speed again from this temperature down; waits while `start` is never.",
    )
    .or("\"65 C\""),
    policy(
        "thermal.throttle.speed",
        Kind::Factor,
        "0.5",
        "Share that is left of each die's time, whoever gives it work, and of the link's rate: \
         dies rest after each operation, and the firmware inserts pauses between commands.",
    )
    .or("0.5"),
    policy(
        "thermal.heavy.start",
        quantity_or_never(Temperature),
        "\"78 C\"",
        "A second, harder step of throttling from this temperature on (TMT2 of NVMe).",
    )
    .or("\"never\""),
    policy(
        "thermal.heavy.stop",
        quantity(Temperature),
        "\"70 C\"",
        "The second step ends from this temperature down; waits while `start` is never.",
    )
    .or("\"70 C\""),
    policy(
        "thermal.heavy.speed",
        Kind::Factor,
        "0.05",
        "Share of each die's time and of the link's rate that is left in the second step.",
    )
    .or("0.05"),
];
