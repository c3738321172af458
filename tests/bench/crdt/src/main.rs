// Replays a trace of edits, one transaction each, and prints the milliseconds and the length of the text.
//
//     crdt yrs|diamond-types TRACE
//
// An edit has five bytes: the position (32 bits, little-endian), and the character to insert there or 0 to delete one.
use diamond_types::list::ListCRDT;
use std::time::Instant;
use yrs::{Doc, GetString, Text, Transact};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let trace = std::fs::read(&args[2]).expect("trace");
    let edits: Vec<(usize, u8)> = trace
        .chunks_exact(5)
        .map(|e| (u32::from_le_bytes([e[0], e[1], e[2], e[3]]) as usize, e[4]))
        .collect();
    let start = Instant::now();
    let length = match args[1].as_str() {
        "yrs" => yrs(&edits),
        "diamond-types" => diamond_types(&edits),
        other => panic!("unknown engine {other}"),
    };
    println!("{} {}", start.elapsed().as_secs_f64() * 1000.0, length);
}

fn yrs(edits: &[(usize, u8)]) -> usize {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let mut buffer = [0; 4];
    for &(at, character) in edits {
        let mut txn = doc.transact_mut();
        if character == 0 {
            text.remove_range(&mut txn, at as u32, 1);
        } else {
            text.insert(&mut txn, at as u32, (character as char).encode_utf8(&mut buffer));
        }
    }
    let length = text.get_string(&doc.transact()).len();
    length
}

fn diamond_types(edits: &[(usize, u8)]) -> usize {
    let mut doc = ListCRDT::new();
    let agent = doc.get_or_create_agent_id("a");
    let mut buffer = [0; 4];
    for &(at, character) in edits {
        if character == 0 {
            doc.delete(agent, at..at + 1);
        } else {
            doc.insert(agent, at, (character as char).encode_utf8(&mut buffer));
        }
    }
    doc.branch.content().len_bytes()
}
