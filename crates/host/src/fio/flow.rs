//! Jobs that share what they do by weight: who is ahead of its share waits.
//!
//! A job is ahead when its part of all requests is above its part of all weights. The counter of a
//! group begins with 1, as fio's, so that of all its jobs at least one is never ahead.

/// A job's part of a group.
#[derive(Clone, Copy, Debug)]
struct Member {
    process: u32,
    weight: u64,
    count: u64,
    held: bool,
}

/// Jobs with one id.
#[derive(Debug)]
struct Group {
    id: u32,
    count: u64,
    weight: u64,
    members: Vec<Member>,
}

/// All groups of a phase.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    groups: Vec<Group>,
    /// Jobs that may go on again.
    released: Vec<u32>,
}

impl Flows {
    pub fn join(&mut self, process: u32, id: u32, weight: u32) {
        let place = self.groups.iter().position(|group| group.id == id);
        let place = place.unwrap_or_else(|| {
            self.groups.push(Group {
                id,
                count: 1,
                weight: 0,
                members: Vec::new(),
            });
            self.groups.len() - 1
        });
        let group = &mut self.groups[place];
        let weight = u64::from(weight);
        group.weight += weight;
        group.members.push(Member {
            process,
            weight,
            count: 0,
            held: false,
        });
    }

    /// A job asks for one request more; false where it is ahead, and then it is held.
    pub fn take(&mut self, process: u32, id: u32) -> bool {
        let group = self.group(id);
        let Group { count, weight, .. } = *group;
        let member = group.member(process);
        if is_ahead(member, count, weight) {
            member.held = true;
            return false;
        }
        member.held = false;
        member.count += 1;
        group.count += 1;
        self.release(id);
        true
    }

    /// A job has ended: its requests and its weight do not count any more.
    pub fn leave(&mut self, process: u32, id: u32) {
        let group = self.group(id);
        let member = *group.member(process);
        group.count -= member.count;
        group.weight -= member.weight;
        group.members.retain(|member| member.process != process);
        self.release(id);
    }

    /// The next job that was held and is not ahead any more.
    pub fn released(&mut self) -> Option<u32> {
        self.released.pop()
    }

    fn release(&mut self, id: u32) {
        let place = self.groups.iter().position(|group| group.id == id);
        let group = &mut self.groups[place.expect("the group of a job that joined it")];
        let (count, weight) = (group.count, group.weight);
        for member in group.members.iter_mut().filter(|member| member.held) {
            if !is_ahead(member, count, weight) {
                member.held = false;
                self.released.push(member.process);
            }
        }
    }

    fn group(&mut self, id: u32) -> &mut Group {
        let group = self.groups.iter_mut().find(|group| group.id == id);
        group.expect("the group of a job that joined it")
    }
}

impl Group {
    fn member(&mut self, process: u32) -> &mut Member {
        let mut members = self.members.iter_mut();
        let member = members.find(|member| member.process == process);
        member.expect("a job that joined")
    }
}

fn is_ahead(member: &Member, count: u64, weight: u64) -> bool {
    u128::from(member.count) * u128::from(weight) > u128::from(member.weight) * u128::from(count)
}
