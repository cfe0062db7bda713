//! The face of the core as WebAssembly: a place for a question, and an answer.
//!
//! A page calls `question(length)`, writes the question's bytes to where that points, calls
//! `answer()`, and reads `answer_length()` bytes from where that points. Both stay until the next
//! question. No name is imported. `unsafe` is here only in how functions are exported.

#![allow(unsafe_code)]

use std::sync::Mutex;

struct Texts {
    question: Vec<u8>,
    answer: String,
}

static TEXTS: Mutex<Texts> = Mutex::new(Texts {
    question: Vec::new(),
    answer: String::new(),
});

fn texts() -> std::sync::MutexGuard<'static, Texts> {
    TEXTS.lock().expect("a page has one thread")
}

/// A place for a question of this length.
#[unsafe(no_mangle)]
pub extern "C" fn question(length: usize) -> *mut u8 {
    let mut texts = texts();
    texts.question = vec![0; length];
    texts.question.as_mut_ptr()
}

/// Answers the question; where the answer begins.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    let mut texts = texts();
    let question = String::from_utf8_lossy(&texts.question).into_owned();
    texts.answer = crate::answer(&question);
    texts.answer.as_ptr()
}

/// How many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    texts().answer.len()
}
