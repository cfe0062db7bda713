//! What the drive draws, how warm it gets, and what its firmware does about it.

use crate::spec::key::Kind::Factor;
use crate::spec::key::{
    Key, Name, fixed, heat, policy, power, resistance, section, temperature, time,
};

section! {
    /// The drive's draw while it works or is ready.
    Power in "power" {
        /// Draw of a plane while its die senses a page: 25 mA at 3.3 V are usual.
        flash_read: u64 = fixed(power().or_zero(), "82.5 mW").or("82.5 mW");
        /// Draw of a plane while its die programs.
        flash_program: u64 = fixed(power().or_zero(), "82.5 mW").or("82.5 mW");
        /// Draw of a plane while its die erases.
        flash_erase: u64 = fixed(power().or_zero(), "82.5 mW").or("82.5 mW");
        /// Draw of a die while its data crosses the channel: 5 mA at 3.3 V.
        flash_transfer: u64 = fixed(power().or_zero(), "16.5 mW").or("16.5 mW");
        /// Draw of each die at all times: 10 uA at 3.3 V.
        flash_standby: u64 = fixed(power().or_zero(), "33 uW").or("33 uW");
        /// Draw of sending data over the host link, on top.
        link: u64 = fixed(power().or_zero(), "150 mW").or("150 mW");
        /// The drive without its flash, while a command is outstanding or the flash works.
        active: u64 = fixed(power(), "500 mW").or("500 mW");
        /// The drive without its flash, ready and with nothing to do.
        idle: u64 = fixed(power(), "250 mW").or("250 mW");
    }
}

section! {
    /// The first low-power state.
    PowerLight in "power.light" {
        /// The first low-power state (SATA slumber, NVMe PS3) is entered after this time with
        /// nothing to do.
        after: Option<u64> = policy(time().or_never(), "1 s").or("never");
        /// The drive without its flash in the first low-power state.
        power: u64 = fixed(power().or_zero(), "50 mW").or("50 mW");
        /// Time to enter the state, at the power of an idle drive; a command waits for its end.
        entry: u64 = fixed(time().or_zero(), "1 ms").or("0");
        /// Time to leave the state: the command that wakes the drive waits for it.
        exit: u64 = fixed(time().or_zero(), "10 ms").or("0");
    }
}

section! {
    /// The second low-power state.
    PowerDeep in "power.deep" {
        /// The second low-power state (SATA DevSleep, NVMe PS4) is entered after this time with
        /// nothing to do.
        after: Option<u64> = policy(time().or_never(), "10 s").or("never");
        /// The drive without its flash in the second low-power state.
        power: u64 = fixed(power().or_zero(), "5 mW").or("5 mW");
        /// Time to enter the state, at the power of the state before it.
        entry: u64 = fixed(time().or_zero(), "5 ms").or("0");
        /// Time to leave the state: the command that wakes the drive waits for it.
        exit: u64 = fixed(time().or_zero(), "20 ms").or("0");
    }
}

section! {
    /// How warm the drive gets.
    Thermal in "thermal" {
        /// The air around the drive, and the drive when it is switched on.
        ambient: u64 = fixed(temperature().or_zero(), "25 C").or("25 C");
        /// How much warmer than still air the drive gets for each watt.
        resistance: u64 = fixed(resistance(), "12 K/W").or("12 K/W");
        /// Heat that warms the drive by one degree; with the resistance it makes the time constant.
        capacity: u64 = fixed(heat(), "45 J/K").or("45 J/K");
        /// Moving air: the thermal resistance is divided by it; 1 = still air.
        fan: u64 = fixed(Factor, "2").or("1")
            .within(1..=u64::MAX, "no heat would leave the drive",
                "write 1 for still air, 2 for a fan that halves the resistance");
        /// From here on the drive warns and counts the minutes.
        warning: u64 = fixed(temperature(), "75 C").or("75 C");
        /// From here on the minutes count as critical.
        critical: u64 = fixed(temperature(), "80 C").or("80 C");
    }
}

section! {
    /// The first step of throttling.
    ThermalThrottle in "thermal.throttle" {
        /// The firmware slows dies and host down from this temperature on (TMT1 of NVMe).
        start: Option<u64> = policy(temperature().or_never(), "70 C").or("never");
        /// Full speed again from this temperature down; waits while `start` is never.
        stop: u64 = policy(temperature(), "65 C").or("65 C");
        /// Share that is left of each die's time, whoever gives it work, and of the link's rate:
        /// dies rest after each operation, and the firmware inserts pauses between commands.
        speed: u64 = policy(Factor, "0.5").or("0.5");
    }
}

section! {
    /// The second step of throttling.
    ThermalHeavy in "thermal.heavy" {
        /// A second, harder step of throttling from this temperature on (TMT2 of NVMe).
        start: Option<u64> = policy(temperature().or_never(), "78 C").or("never");
        /// The second step ends from this temperature down; waits while `start` is never.
        stop: u64 = policy(temperature(), "70 C").or("70 C");
        /// Share of each die's time and of the link's rate that is left in the second step.
        speed: u64 = policy(Factor, "0.05").or("0.05");
    }
}
