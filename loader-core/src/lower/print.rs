//! Any record, or a whole kbin, field by field with its offset.
//!
//! ```
//! use loader_core::lower::print;
//! use loader_core::lower::record::PatchEntry;
//!
//! let text = print::record("patch", &PatchEntry::default()).to_string();
//! assert!(text.contains("     8  patch.kind = 0 (insert)"));
//! ```

use super::kbins::KbinView;
use super::record::{Desc, ExportDesc, Extra, Lines, Path, Walk};
use core::fmt;

/// A record that prints itself under `name`, offsets from its own start.
pub const fn record<'a, T: Walk + ?Sized>(name: &'static str, record: &'a T) -> impl fmt::Display + 'a {
    Printed { name, at: 0, record }
}

/// A record that prints itself with offsets from `at` on.
pub const fn record_at<'a, T: Walk + ?Sized>(
    name: &'static str,
    at: usize,
    record: &'a T,
) -> impl fmt::Display + 'a {
    Printed { name, at, record }
}

struct Printed<'a, T: ?Sized> {
    name: &'static str,
    at: usize,
    record: &'a T,
}

impl<T: Walk + ?Sized> fmt::Display for Printed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record.walk(self.at, &Path::root(self.name), &mut Column { f })
    }
}

struct Column<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
}

impl Lines for Column<'_, '_> {
    fn line(&mut self, at: usize, path: &Path<'_>, value: &dyn fmt::Display) -> fmt::Result {
        write!(self.f, "{at:6}  ")?;
        fmt::Display::fmt(path, self.f)?;
        writeln!(self.f, " = {value}")
    }
}

impl fmt::Display for KbinView<'_> {
    /// Every record of the kbin, one field per line. Descriptors print in their compact form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kbin {} \"{}\"", self.index(), self.subgraph_name().escape_ascii())?;
        write!(f, "{}", record("kbin", self.record()))?;
        for engine in self.engine_hdrs() {
            write!(f, "{}", record("engine", engine))?;
        }
        for blob in self.blobs() {
            write!(f, "{}", record("blob", blob))?;
        }
        for queue in self.queues() {
            write!(f, "{}", record("queue", queue.record))?;
            for instance in queue.instances() {
                write!(f, "{}", record("ring", instance.record))?;
                instance.descs().iter().try_for_each(|desc| self.print_desc(desc, f))?;
            }
        }
        for var in self.vars() {
            writeln!(f, "variable \"{}\"", var.name.escape_ascii())?;
            write!(f, "{}", record("mem_ref", var.record))?;
            match var.record.extra() {
                Extra::None => {}
                Extra::Ptr(arm) => write!(f, "{}", record_at("ptr", 136, &arm))?,
                Extra::Virtual(arm) => write!(f, "{}", record_at("virtual", 136, &arm))?,
                Extra::List(arm) | Extra::PtrTable(arm) => {
                    write!(f, "{}", record_at("list", 136, &arm))?;
                }
                Extra::Remote(arm) => write!(f, "{}", record_at("remote", 136, &arm))?,
            }
            if let Some(print) = self.print(var.record) {
                write!(f, "{}", record("print", print))?;
            }
        }
        self.print_sections(f)
    }
}

impl KbinView<'_> {
    fn print_desc(&self, desc: &Desc, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", record("desc", desc))?;
        for (name, ap) in self
            .to(desc)
            .map(|ap| ("to", ap))
            .into_iter()
            .chain(self.from(desc).iter().map(|ap| ("from", ap)))
        {
            write!(f, "{}", record(name, ap))?;
            for dim in self.dims(ap) {
                write!(f, "{}", record("dim", dim))?;
            }
        }
        Ok(())
    }

    fn print_sections(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for set in self.act_sets() {
            write!(f, "{}", record("act_set", set.record))?;
        }
        if let Some(cfg) = self.dve_record() {
            write!(f, "{}", record("dve", cfg))?;
        }
        for carveout in self.carveouts().unwrap_or(&[]) {
            write!(f, "{}", record("carveout", carveout))?;
        }
        for group in self.replica_groups() {
            for ranks in group.subgroups() {
                writeln!(f, "        replica group {ranks:?}")?;
            }
        }
        for pair in self.src_target_pairs().flatten() {
            write!(f, "{}", record("pair", pair))?;
        }
        for library in self.ucode_libs() {
            write!(f, "{}", record("ucode", library.record))?;
            for function in library.functions {
                write!(f, "{}", record("function", function))?;
            }
        }
        Ok(())
    }

    /// Prints a descriptor in the reference's 5456-byte layout.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_export(&self, desc: &Desc, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut export = ExportDesc::default();
        self.export_desc(desc, &mut export);
        write!(out, "{}", record("desc", &export))
    }
}
