//! Traces: whatever the lines are, there is an answer, in order and within what a drive can have.

use std::io::Cursor;

use flashtwin_workload::trace::{Action, Format, MAX_FILES, Options, Reader, Shape, survey};

const FORMATS: [Option<Format>; 15] = [
    None,
    Some(Format::Iolog),
    Some(Format::Blkparse),
    Some(Format::Biosnoop),
    Some(Format::Msr),
    Some(Format::Systor),
    Some(Format::Alibaba),
    Some(Format::Tencent),
    Some(Format::Fiu),
    Some(Format::Spc),
    Some(Format::Disksim),
    Some(Format::Mqsim),
    Some(Format::Vscsi),
    Some(Format::Blktrace),
    Some(Format::Strace),
];

/// Reads a trace as each of the formats; true where it is one by its own lines.
pub fn check(data: &[u8]) -> bool {
    let [own, ..] = FORMATS.map(|format| {
        let options = Options {
            format,
            ..Options::default()
        };
        read(data, options)
    });
    own
}

fn read(data: &[u8], options: Options) -> bool {
    let surveyed = survey(Cursor::new(data), options.clone(), &Shape::default());
    let Ok(reader) = Reader::new(Cursor::new(data), options) else {
        assert!(surveyed.is_err(), "a survey reads what a reader refuses");
        return false;
    };
    let mut last = None;
    let (mut requests, mut lines, mut broken) = (0_u64, 0, false);
    for event in reader {
        let Ok(event) = event else {
            broken = true;
            continue;
        };
        assert!(!broken, "nothing follows a line that is wrong");
        assert!(last <= Some(event.at), "times run backwards");
        last = Some(event.at);
        assert!((event.file as usize) < MAX_FILES, "a file has a number");
        let moves = matches!(event.action, Action::Data(_));
        assert_eq!(moves, event.bytes > 0, "what moves data has bytes");
        assert!(event.offset.checked_add(event.bytes).is_some(), "it ends");
        requests += u64::from(moves);
        lines += 1;
    }
    match surveyed {
        Ok(found) => {
            assert!(!broken, "a survey takes what a reader refuses");
            assert_eq!(found.ios.iter().sum::<u64>(), requests);
            assert!(found.left_out <= data.len() as u64);
            true
        }
        Err(_) => {
            assert!(broken || lines == 0, "a survey refuses what a reader takes");
            false
        }
    }
}
