//! fio's iologs. Version 2: `file action [offset length]`, where `wait` gives the time since the
//! start, in microseconds, before which nothing that follows begins. Version 3 puts the time of
//! each line before it, in microseconds (measured on fio 3.33, both). What counts there is the time
//! between two lines, where it goes forward: the clock begins with the first line whose time is not
//! zero, and goes on from line to line where another process's lines follow.

use flashtwin_base::Nanos;

use super::number::{next, range, shown, whole, words};
use super::{Action, Context, Event, Line, TraceProblem};
use crate::job::Direction;

const MICROSECOND: u64 = 1_000;

pub fn parse(text: &[u8], version: u8, context: &mut Context) -> Result<Line, TraceProblem> {
    let mut words = words(text);
    if version == 3 {
        let at = whole(next(&mut words, "time")?, "time")?;
        pass(context, at)?;
    }
    let name = next(&mut words, "file")?;
    let action = match next(&mut words, "action")? {
        b"add" => {
            context.set_name(name);
            context.named_file()?;
            return Ok(Line::Nothing);
        }
        b"open" | b"close" => return Ok(Line::Nothing),
        b"wait" if version == 2 => {
            reach(context, whole(next(&mut words, "time")?, "time")?)?;
            return Ok(Line::Nothing);
        }
        b"sync" => Action::Flush,
        b"datasync" => Action::FlushData,
        b"read" => Action::Data(Direction::Read),
        b"write" => Action::Data(Direction::Write),
        b"trim" => Action::Data(Direction::Trim),
        other => {
            let text = shown(other);
            return Err(TraceProblem::NotKnown {
                what: "action",
                text,
            });
        }
    };
    context.set_name(name);
    let Some(file) = context.named_file()? else {
        return Ok(Line::Nothing);
    };
    let (offset, bytes) = match action {
        Action::Flush | Action::FlushData => (0, 0),
        Action::Data(_) => {
            let offset = whole(next(&mut words, "offset")?, "offset")?;
            range(offset, whole(next(&mut words, "length")?, "length")?)?
        }
    };
    let event = Event {
        at: context.last,
        file,
        action,
        offset,
        bytes,
        fua: false,
    };
    Ok(Line::Event {
        flush: false,
        event,
    })
}

/// Time goes on by what lies between the last line and one at `at` microseconds.
fn pass(context: &mut Context, at: u64) -> Result<(), TraceProblem> {
    let before = std::mem::replace(&mut context.line_us, at);
    context.goes_back |= at < before;
    if before > 0 && at > before {
        let too_large = TraceProblem::TooLarge("time");
        let nanos = (at - before).checked_mul(MICROSECOND);
        let now = nanos.and_then(|nanos| context.last.0.checked_add(nanos));
        context.last = Nanos(now.ok_or(too_large)?);
    }
    Ok(())
}

/// Time goes on to `at` microseconds, unless it is there already.
fn reach(context: &mut Context, at: u64) -> Result<(), TraceProblem> {
    let nanos = at
        .checked_mul(MICROSECOND)
        .ok_or(TraceProblem::TooLarge("time"))?;
    context.goes_back |= Nanos(nanos) < context.last;
    context.last = context.last.max(Nanos(nanos));
    Ok(())
}
