//! The deepest stack of each entry: frames summed along the call graph.

use super::code::Code;
use std::collections::{BTreeMap, BTreeSet};

/// What calls through pointers can reach, as checked-in rules: `caller => part of the callee's name, …`. The
/// first rule whose left side is part of the caller's name counts; a caller without one may reach every
/// function that stands in a table of methods at the same offset, or whose address is taken.
#[derive(Debug, Default)]
pub(crate) struct Rules(Vec<(String, Vec<String>)>);

impl Rules {
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        Self(lines.filter_map(|line| line.split_once(" => ")).map(rule).collect())
    }

    fn of(&self, caller: &str) -> Option<&[String]> {
        self.0.iter().find(|(part, _)| caller.contains(part)).map(|(_, callees)| callees.as_slice())
    }
}

fn rule((caller, callees): (&str, &str)) -> (String, Vec<String>) {
    let callees = callees.split(", ").map(|part| part.trim().to_string());
    (caller.trim().to_string(), callees.filter(|part| part != "nothing").collect())
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
    done: BTreeMap<u64, Path>,
    open: Vec<u64>,
    /// Calls that lead back into a function that is open: recursion.
    pub(crate) cycles: BTreeSet<Vec<u64>>,
}

impl<'c> Walker<'c> {
    pub(crate) fn new(code: &'c Code, rules: &'c Rules) -> Self {
        Self { code, rules, done: BTreeMap::new(), open: Vec::new(), cycles: BTreeSet::new() }
    }

    /// Everything a function may call.
    fn callees(&self, address: u64) -> BTreeSet<u64> {
        let Some(function) = self.code.functions.get(&address) else { return BTreeSet::new() };
        let mut all = function.calls.clone();
        let rule = self.rules.of(&function.name);
        let allowed = |target: &u64| {
            rule.is_none_or(|parts| parts.iter().any(|part| self.code.name(*target).contains(part)))
        };
        for slot in &function.indirect {
            let methods = slot.and_then(|offset| self.code.methods.get(&offset));
            match methods {
                Some(methods) => all.extend(methods.iter().copied().filter(|target| allowed(target))),
                None => {
                    let methods = self.code.methods.values().flatten();
                    all.extend(methods.chain(&self.code.pointed).copied().filter(|target| allowed(target)));
                }
            }
        }
        all
    }

    /// The deepest path from a function, its own frame included. A call back into an open function is
    /// noted and counts nothing.
    pub(crate) fn deepest(&mut self, address: u64) -> Path {
        if let Some(path) = self.done.get(&address) {
            return path.clone();
        }
        self.open.push(address);
        let mut below = Path::default();
        for callee in self.callees(address) {
            if let Some(from) = self.open.iter().position(|&open| open == callee) {
                self.cycles.insert(self.open[from..].to_vec());
                continue;
            }
            let path = self.deepest(callee);
            if path.bytes > below.bytes {
                below = path;
            }
        }
        self.open.pop();
        let frame = self.code.functions.get(&address).map_or(0, |function| function.frame);
        let mut path = Path { bytes: below.bytes + frame, calls: vec![address] };
        path.calls.extend(below.calls);
        self.done.insert(address, path.clone());
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
            (address, Function { name: format!("f{address}"), frame, calls, indirect: BTreeSet::new() })
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
        let rules = Rules::parse("# why\nf1 => f2, f7\n");
        assert_eq!(Walker::new(&code, &rules).deepest(1).bytes, 30);
        assert_eq!(Walker::new(&code, &Rules::default()).deepest(1).bytes, 100);
    }
}
