//! The deepest stack of each entry: frames summed along the call graph.

use super::code::Code;
use std::collections::{BTreeMap, BTreeSet};

/// What calls through pointers can reach, as checked-in rules: `caller => part of the callee's name, …`. The
/// first rule whose left side is part of the caller's name counts; a caller without one may reach every
/// function that stands in a table of methods at the same offset, or whose address is taken. A function that no
/// rule names as a callee is new to this list: every caller may reach it, whatever its rule says.
///
/// What formats a value is called by `core::fmt::write` for whoever takes its address, so it counts there: below that
/// function, its way to `core::fmt::write`, and that one's frame.
///
/// Rules behind a line `[part of a name]` count first, and only below a function of that name: one walk over the
/// archive serves all stages, but each stage listens to it with its own.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    general: Vec<Rule>,
    below: Vec<(String, Vec<Rule>)>,
}

/// Part of a caller's name, and parts of its callees' names.
type Rule = (String, Vec<String>);

impl Rules {
    pub(crate) fn parse(text: &str) -> Self {
        let mut rules = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(entry) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                rules.below.push((entry.to_string(), Vec::new()));
            } else if let Some(parts) = line.split_once(" => ") {
                let list = rules.below.last_mut().map_or(&mut rules.general, |(_, rules)| rules);
                list.push(rule(parts));
            }
        }
        rules
    }

    /// The section that a function opens, else the one it is called in.
    fn section(&self, function: &str, within: Option<usize>) -> Option<usize> {
        self.below.iter().position(|(entry, _)| function.contains(entry)).or(within)
    }

    /// Whether a rule says who may call it.
    fn knows(&self, callee: &str) -> bool {
        let mut all = self.below.iter().flat_map(|(_, rules)| rules).chain(&self.general);
        all.any(|(_, callees)| callees.iter().any(|part| callee.contains(part)))
    }

    fn of(&self, caller: &str, section: Option<usize>) -> Option<&[String]> {
        let own = section.and_then(|at| self.below.get(at)).map_or(&[][..], |(_, rules)| rules);
        let mut all = own.iter().chain(&self.general);
        all.find(|(part, _)| caller.contains(part)).map(|(_, callees)| callees.as_slice())
    }
}

fn rule((caller, callees): (&str, &str)) -> (String, Vec<String>) {
    let callees = callees.split(", ").map(|part| part.trim().to_string());
    (caller.trim().to_string(), callees.filter(|part| part != "nothing").collect())
}

/// What prints what formats take.
const WRITE: &str = "core::fmt::write";

/// Calls between a function that has a value written and `core::fmt::write`: `Write::write_fmt` and what it is made of.
const FEW: usize = 4;

/// A function that writes a value as text: an implementation of one of the traits of formats.
fn is_format(name: &str) -> bool {
    ["Display", "Debug", "LowerHex", "UpperHex", "Octal", "Binary", "LowerExp", "UpperExp", "Pointer"]
        .iter()
        .any(|kind| name.contains(&format!(" as core::fmt::{kind}>::fmt")))
}

/// A path of calls and what it takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    pub(crate) bytes: u64,
    pub(crate) calls: Vec<u64>,
}

/// Walks the graph once for all entries.
pub(crate) struct Walker<'c> {
    code: &'c Code,
    rules: &'c Rules,
    done: BTreeMap<(u64, Option<usize>), Path>,
    /// Functions that some function takes to have a value written.
    formats: BTreeSet<u64>,
    open: Vec<u64>,
    /// Calls that lead back into a function that is open: recursion.
    pub(crate) cycles: BTreeSet<Vec<u64>>,
}

impl<'c> Walker<'c> {
    pub(crate) fn new(code: &'c Code, rules: &'c Rules) -> Self {
        let taken = code.functions.values().flat_map(|function| &function.takes).copied();
        let formats = taken.filter(|address| is_format(code.name(*address))).collect();
        Self { code, rules, done: BTreeMap::new(), formats, open: Vec::new(), cycles: BTreeSet::new() }
    }

    /// Everything a function may call.
    fn callees(&self, address: u64, section: Option<usize>) -> BTreeSet<u64> {
        let Some(function) = self.code.functions.get(&address) else { return BTreeSet::new() };
        let mut all = function.calls.clone();
        let rule = self.rules.of(&function.name, section);
        let allowed = |target: &u64| {
            let name = self.code.name(*target);
            rule.is_none_or(|parts| parts.iter().any(|part| name.contains(part))) || !self.rules.knows(name)
        };
        // Who takes a format answers for it.
        let pointed: BTreeSet<u64> = self.code.pointed.difference(&self.formats).copied().collect();
        for slot in &function.indirect {
            let methods = slot.and_then(|offset| self.code.methods.get(&offset));
            match methods {
                Some(methods) => all.extend(methods.iter().copied().filter(|target| allowed(target))),
                None => {
                    let methods = self.code.methods.values().flatten();
                    all.extend(methods.chain(&pointed).copied().filter(|target| allowed(target)));
                }
            }
        }
        all
    }

    /// The formats that a function takes.
    fn formats_of(&self, address: u64) -> Vec<u64> {
        let takes = self.code.functions.get(&address).map(|function| &function.takes);
        takes.map_or_else(Vec::new, |takes| takes.intersection(&self.formats).copied().collect())
    }

    /// The deepest way from below a function to what calls formats, that one's frame included.
    fn to_write(&self, address: u64, section: Option<usize>) -> Path {
        let frame = |at: u64| self.code.functions.get(&at).map_or(0, |function| function.frame);
        let mut best = Path::default();
        let mut ways: Vec<Vec<u64>> = self.callees(address, section).into_iter().map(|at| vec![at]).collect();
        while let Some(way) = ways.pop() {
            let Some(&last) = way.last() else { continue };
            if self.code.name(last) == WRITE {
                let bytes = way.iter().map(|&at| frame(at)).sum();
                if bytes > best.bytes {
                    best = Path { bytes, calls: way };
                }
            } else if way.len() < FEW && self.code.name(last).contains("core::fmt::") {
                let next = self.callees(last, section).into_iter().filter(|at| !way.contains(at));
                ways.extend(next.map(|at| way.iter().copied().chain([at]).collect()));
            }
        }
        best
    }

    /// The deepest path from a function, its own frame included. A call back into an open function is
    /// noted and counts nothing.
    pub(crate) fn deepest(&mut self, address: u64) -> Path {
        self.deepest_within(address, None)
    }

    fn deepest_within(&mut self, address: u64, within: Option<usize>) -> Path {
        let section = self.rules.section(self.code.name(address), within);
        if let Some(path) = self.done.get(&(address, section)) {
            return path.clone();
        }
        self.open.push(address);
        let mut below = Path::default();
        for callee in self.callees(address, section) {
            if let Some(from) = self.open.iter().position(|&open| open == callee) {
                self.cycles.insert(self.open[from..].to_vec());
                continue;
            }
            let path = self.deepest_within(callee, section);
            if path.bytes > below.bytes {
                below = path;
            }
        }
        for format in self.formats_of(address) {
            if let Some(from) = self.open.iter().position(|&open| open == format) {
                self.cycles.insert(self.open[from..].to_vec());
                continue;
            }
            let (mut path, between) = (self.deepest_within(format, section), self.to_write(address, section));
            path.bytes += between.bytes;
            path.calls.splice(0..0, between.calls);
            if path.bytes > below.bytes {
                below = path;
            }
        }
        self.open.pop();
        let frame = self.code.functions.get(&address).map_or(0, |function| function.frame);
        let mut path = Path { bytes: below.bytes + frame, calls: vec![address] };
        path.calls.extend(below.calls);
        self.done.insert((address, section), path.clone());
        path
    }
}

#[cfg(test)]
mod tests {
    use super::{Rules, Walker};
    use crate::image::code::{Code, Function};
    use std::collections::{BTreeMap, BTreeSet};

    fn graph(edges: &[(u64, u64, &[u64])]) -> Code {
        let functions = edges.iter().map(|&(address, frame, calls)| {
            let calls = calls.iter().copied().collect();
            (address, Function { name: format!("f{address}"), frame, calls, ..Function::default() })
        });
        Code { functions: functions.collect(), methods: BTreeMap::new(), pointed: BTreeSet::new() }
    }

    #[test]
    fn the_deepest_path_counts() {
        let code = graph(&[(1, 10, &[2, 3]), (2, 20, &[4]), (3, 25, &[]), (4, 30, &[])]);
        let rules = Rules::default();
        let mut walker = Walker::new(&code, &rules);
        let path = walker.deepest(1);
        assert_eq!((path.bytes, path.calls), (60, vec![1, 2, 4]));
        assert!(walker.cycles.is_empty());
    }

    #[test]
    fn recursion_is_found() {
        let code = graph(&[(1, 10, &[2]), (2, 20, &[1])]);
        let rules = Rules::default();
        let mut walker = Walker::new(&code, &rules);
        assert_eq!(walker.deepest(1).bytes, 30);
        assert_eq!(walker.cycles, BTreeSet::from([vec![1, 2]]));
    }

    #[test]
    fn rules_narrow_what_pointers_reach() {
        let mut code = graph(&[(1, 10, &[]), (2, 20, &[]), (3, 90, &[])]);
        code.pointed = BTreeSet::from([2, 3]);
        if let Some(function) = code.functions.get_mut(&1) {
            function.indirect.insert(None);
        }
        let rules = Rules::parse("# why\nf1 => f2, f7\nf9 => f3\n");
        assert_eq!(Walker::new(&code, &rules).deepest(1).bytes, 30);
        assert_eq!(Walker::new(&code, &Rules::default()).deepest(1).bytes, 100);
    }

    #[test]
    fn rules_of_a_section_count_below_its_function() {
        let mut code = graph(&[(1, 10, &[3]), (2, 10, &[3]), (3, 5, &[]), (4, 20, &[]), (5, 90, &[])]);
        code.pointed = BTreeSet::from([4, 5]);
        if let Some(function) = code.functions.get_mut(&3) {
            function.indirect.insert(None);
        }
        let rules = Rules::parse("f3 => f4, f5\n[f1]\nf3 => f4\n");
        let mut walker = Walker::new(&code, &rules);
        assert_eq!((walker.deepest(1).bytes, walker.deepest(2).bytes), (35, 105));
    }

    fn rename<'c>(code: &'c mut Code, address: u64, name: &str) -> &'c mut Function {
        let function = code.functions.entry(address).or_default();
        function.name = name.to_string();
        function
    }

    /// The checked-in rules, and a trait of the core's own that nobody told them of.
    #[test]
    fn what_no_rule_names_is_followed() {
        let mut code = graph(&[(1, 10, &[]), (2, 20, &[1])]);
        rename(&mut code, 1, "loader_core::plan::place::planted").indirect.insert(Some(0x18));
        rename(&mut code, 2, "<loader_core::plan::place::Deep as loader_core::plan::place::Planted>::go");
        code.methods.insert(0x18, BTreeSet::from([2]));
        let rules = crate::image::rules().unwrap();
        let mut walker = Walker::new(&code, &rules);
        assert_eq!(walker.deepest(1).bytes, 30);
        assert_eq!(walker.cycles, BTreeSet::from([vec![1, 2]]));
        // A method of a device is known, and no walk over an archive calls one.
        rename(&mut code, 1, "loader_core::container::archive::Archive");
        rename(&mut code, 2, "<neuron_drivers::sim::Sim as loader_core::device::Device>::alloc");
        assert_eq!(Walker::new(&code, &rules).deepest(1).bytes, 10);
    }

    #[test]
    fn what_is_printed_counts_below_its_printer() {
        let mut code = graph(&[(1, 10, &[3]), (2, 100, &[3]), (3, 7, &[])]);
        rename(&mut code, 3, "core::fmt::write");
        rename(&mut code, 2, "<ours::Text as core::fmt::Display>::fmt");
        rename(&mut code, 1, "ours::print").takes.insert(2);
        code.pointed = BTreeSet::from([2]);
        let rules = crate::image::rules().unwrap();
        let mut walker = Walker::new(&code, &rules);
        let path = walker.deepest(1);
        assert_eq!((path.bytes, path.calls), (10 + 7 + 100 + 7, vec![1, 3, 2, 3]));
        assert!(walker.cycles.is_empty());
        // A text that holds a text of its kind.
        rename(&mut code, 2, "<ours::Text as core::fmt::Display>::fmt").takes.insert(2);
        let mut walker = Walker::new(&code, &rules);
        walker.deepest(1);
        assert_eq!(walker.cycles, BTreeSet::from([vec![2]]));
    }
}
