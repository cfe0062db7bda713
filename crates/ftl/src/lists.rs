//! Many doubly linked lists over one set of superblocks, each superblock in at most one of them:
//! putting in and taking out cost a few stores, whatever the drive's size, and allocate nothing.

use crate::words::NONE;

/// Lists numbered from 0, of superblocks numbered from 0. The newest member stands last.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    first: Vec<u32>,
    last: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// The list that a superblock is in, or none.
    list: Vec<u32>,
}

flashtwin_base::state! { Lists {
    sized: first, last, next, previous, list;
} }

impl Lists {
    /// `lists` empty lists of what is numbered below `members`.
    pub(crate) fn new(lists: u32, members: u32) -> Lists {
        Lists {
            first: vec![NONE; lists as usize],
            last: vec![NONE; lists as usize],
            next: vec![NONE; members as usize],
            previous: vec![NONE; members as usize],
            list: vec![NONE; members as usize],
        }
    }

    /// How many lists there are.
    pub(crate) fn lists(&self) -> u32 {
        self.first.len() as u32
    }

    /// The list that a member is in, or none.
    pub(crate) fn list_of(&self, member: u32) -> u32 {
        self.list[member as usize]
    }

    /// Whether a list has no member.
    pub(crate) fn is_empty(&self, list: u32) -> bool {
        self.first[list as usize] == NONE
    }

    /// Puts a member that is in no list at the end of one.
    pub(crate) fn push(&mut self, list: u32, member: u32) {
        debug_assert_eq!(self.list_of(member), NONE, "{member} is in a list already");
        let last = std::mem::replace(&mut self.last[list as usize], member);
        if last == NONE {
            self.first[list as usize] = member;
        } else {
            self.next[last as usize] = member;
        }
        self.previous[member as usize] = last;
        self.next[member as usize] = NONE;
        self.list[member as usize] = list;
    }

    /// Takes a member out of the list that it is in.
    pub(crate) fn remove(&mut self, member: u32) {
        let list = std::mem::replace(&mut self.list[member as usize], NONE);
        assert_ne!(list, NONE, "superblock {member} is in no list");
        let (previous, next) = (self.previous[member as usize], self.next[member as usize]);
        match previous {
            NONE => self.first[list as usize] = next,
            _ => self.next[previous as usize] = next,
        }
        match next {
            NONE => self.last[list as usize] = previous,
            _ => self.previous[next as usize] = previous,
        }
    }

    /// The members of a list, oldest first.
    pub(crate) fn members(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |member: u32| (member != NONE).then_some(member);
        let after = move |&member: &u32| some(self.next[member as usize]);
        std::iter::successors(some(self.first[list as usize]), after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashtwin_base::rng::Rng;
    use std::collections::VecDeque;

    #[test]
    fn lists_agree_with_plain_queues() {
        let (mut lists, mut plain) = (Lists::new(3, 20), vec![VecDeque::new(); 3]);
        let mut rng = Rng::new(1, 0);
        for _ in 0..5_000 {
            let (list, member) = (rng.below(3) as u32, rng.below(20) as u32);
            match lists.list_of(member) {
                NONE => {
                    lists.push(list, member);
                    plain[list as usize].push_back(member);
                }
                at => {
                    lists.remove(member);
                    plain[at as usize].retain(|&m| m != member);
                }
            }
            for (list, plain) in (0u32..).zip(&plain) {
                assert!(lists.members(list).eq(plain.iter().copied()));
                assert_eq!(lists.is_empty(list), plain.is_empty());
            }
        }
    }
}
