//! What a data directory holds beside snapshots: the journal, and the lines that say whose it is.

use std::io;

use flashtwin_serve::directory::Header;
use flashtwin_serve::journal::{RECORD_BYTES, Record, replay};

/// Any bytes as a journal and as a header; the answer is whether they hold anything of either.
pub fn check(data: &[u8]) -> bool {
    let mut again = Vec::new();
    let heard = |record: Record| -> Result<(), io::Error> {
        again.extend_from_slice(&record.encode());
        Ok(())
    };
    let bytes = replay(data, heard).expect("bytes can be read") as usize;
    assert!(bytes.is_multiple_of(RECORD_BYTES) && bytes <= data.len());
    assert_eq!(again.len(), bytes, "what a journal holds");
    let mut records = again.chunks_exact(RECORD_BYTES);
    assert!(records.all(|record| decoded(record).is_some_and(|r| r.encode() == record)));
    let header = std::str::from_utf8(data).ok().and_then(Header::parse);
    if let Some(header) = &header {
        assert_eq!(Header::parse(&header.text()).as_ref(), Some(header));
    }
    bytes > 0 || header.is_some()
}

fn decoded(bytes: &[u8]) -> Option<Record> {
    Record::decode(bytes.try_into().ok()?)
}
