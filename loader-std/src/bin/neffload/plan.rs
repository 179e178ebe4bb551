//! `neffload plan`: the memory that a streamed load needs, and how it is laid out.

use crate::Answer;
use crate::files::{alone, apart, hold, is_standard};
use crate::load::{Asked, SimSpec, refusal, surroundings};
use crate::output::{Align, Document, Output, Paint, Size, Table, shown, verdict};
use crate::replace::replace;
use crate::trouble::Trouble;
use clap::Args;
use loader_core::policy::Policy;
use loader_core::source::Source;
use loader_std::LoadError;
use loader_std::file::Input;
use loader_std::inspect::warnings_json;
use loader_std::needs::image::{ImageNeeds, image_needs};
use loader_std::needs::{Needs, needs};
use neuron_drivers::sim::Config;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    #[command(flatten)]
    asked: Asked,
    /// Write the memory layout as TOML; `-` is standard output
    #[arg(short, long, value_name = "TOML")]
    output: Option<PathBuf>,
}

/// Runs `plan`.
pub(crate) fn run(arguments: &PlanArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let asked = &arguments.asked;
    asked.check()?;
    if let Some(out) = &arguments.output {
        alone("-o", out, output)?;
        apart(out, [arguments.file.as_path()])?;
    }
    let mut input = Input::open(&arguments.file).map_err(Trouble::at(&arguments.file))?;
    let spec = asked.device.simulated().map_err(Trouble::Usage)?.without_content();
    // A pipe is held: how its bytes come here says nothing about how a load will read them.
    let planned = match &input {
        Input::File(_) => plan_of(&mut input, asked, spec, output),
        Input::Pipe(_) => {
            plan_of(&mut hold(&arguments.file, &mut input, output)?.as_slice(), asked, spec, output)
        }
    }?;
    match planned {
        Ok(plan) => {
            plan.answer(arguments, output)?;
            Ok(Answer::Done)
        }
        Err(refused) => {
            answer_refused(arguments, &refused, output)?;
            Ok(Answer::Refused)
        }
    }
}

fn plan_of<S: Source>(
    source: &mut S,
    asked: &Asked,
    spec: SimSpec,
    output: &Output,
) -> Result<Result<Plan, LoadError>, Trouble> {
    let options = asked.options();
    let watch = output.watch("planning", source.len());
    // Known once the file said its architecture.
    let unfit = Cell::new(None);
    let needed = needs(&mut watch.source(source), &options, |target| {
        unfit.set(spec.fits(target).err());
        spec.open(target, false)
    });
    if let Some(what) = unfit.take() {
        return Err(Trouble::Usage(format!("--device: {what}")));
    }
    let (needs, sim) = match needed {
        Ok(needed) => needed,
        Err(refused) => return Ok(Err(refused)),
    };
    // A file that no image loads, say one with members in extents, has no such sizes.
    let image = image_needs(source, options.limits, options.policy).ok();
    Ok(Ok(Plan { needs, image, config: *sim.config(), policy: options.policy }))
}

impl PlanArguments {
    fn layout_to_output(&self) -> bool {
        self.output.as_deref().is_some_and(is_standard)
    }
}

struct Plan {
    needs: Needs,
    image: Option<ImageNeeds>,
    config: Config,
    policy: Policy,
}

impl Plan {
    fn answer(&self, arguments: &PlanArguments, output: &mut Output) -> Result<(), Trouble> {
        let to_output = arguments.layout_to_output();
        if let Some(path) = arguments.output.as_deref().filter(|_| !to_output) {
            replace(path, |mut file| file.write_all(self.layout().as_bytes())).map_err(Trouble::at(path))?;
        }
        if output.json() {
            output.document(&self.document(&arguments.asked))
        } else if to_output {
            output.line(self.layout().trim_end())
        } else {
            self.people(&arguments.file, output)
        }
    }

    /// The layout with the device that it is for.
    fn layout(&self) -> String {
        let Self { needs, config, policy, .. } = self;
        format!(
            "# The least memory with which this file loads as a stream, and on which device.\n{needs}\n[device]\n\
             kind = \"sim\"\narch = \"{}\"\ncores = {}\nprofile = \"{}\"\nlnc = {}\npage_size = {}\n",
            config.arch.name(),
            config.cores,
            config.profile.name(),
            needs.lnc,
            policy.page_size
        )
    }

    fn document(&self, asked: &Asked) -> Document {
        let Self { needs, config, image, .. } = self;
        let image = image.map(|image| {
            let ImageNeeds { members, members_kept, arena } = image;
            json!({"members": members, "members_kept": members_kept, "arena": arena})
        });
        let mut document = Document::new("plan");
        document.set("verdict", verdict::accepted());
        surroundings(&mut document, asked, Some(config.arch), Some(needs.lnc));
        let buffers: Map<String, Value> =
            needs.parts().iter().map(|(name, bytes)| ((*name).to_owned(), json!(bytes))).collect();
        let stage = |usage: &loader_std::loader::Usage| {
            let sizes = json!({"results": usage.head, "tables": usage.tail, "peak": usage.peak});
            (usage.stage.to_owned(), sizes)
        };
        let stages: Map<String, Value> = needs.facts.usage.iter().map(stage).collect();
        document
            .set("arena_bytes", needs.total())
            .set("needs", json!({"buffers": buffers, "stages": stages, "image": image}))
            .set("passes", needs.facts.passes)
            .set("warnings", warnings_json(&needs.facts.notes));
        document
    }

    fn people(&self, file: &Path, output: &mut Output) -> Result<(), Trouble> {
        let Self { needs, config, .. } = self;
        let style = output.style();
        let name = style.paint(Paint::Bold, shown::path(file));
        let total = style.paint(Paint::Good, Size(needs.total() as u64));
        output.line(format_args!(
            "{name}  loads within {total} ({} bytes) on {}, in {} passes",
            needs.total(),
            config.arch.name(),
            needs.facts.passes
        ))?;
        let mut table = Table::new(&[("  buffer", Align::Left), ("size", Align::Right)]);
        for (part, bytes) in needs.parts() {
            table.row([format!("  {part}"), Size(bytes as u64).to_string()]);
        }
        output.table(&table)?;
        let columns = [
            ("  arena after", Align::Left),
            ("results", Align::Right),
            ("tables", Align::Right),
            ("peak", Align::Right),
        ];
        let mut table = Table::new(&columns);
        for usage in &needs.facts.usage {
            let sizes = [usage.head, usage.tail, usage.peak].map(|bytes| Size(bytes as u64).to_string());
            table.row([format!("  {}", usage.stage)].into_iter().chain(sizes));
        }
        output.table(&table)?;
        let Some(ImageNeeds { members, members_kept, arena }) = self.image else { return Ok(()) };
        output.line(format_args!(
            "  an image needs memory.members = {members} ({members_kept} to keep small members) and memory.arena = {arena}"
        ))
    }
}

fn answer_refused(
    arguments: &PlanArguments,
    refused: &LoadError,
    output: &mut Output,
) -> Result<(), Trouble> {
    if output.json() {
        return output.document(&refusal("plan", refused, &arguments.asked));
    }
    let style = output.style();
    let name = style.paint(Paint::Bold, shown::path(&arguments.file));
    output.line(format_args!("{name}  {}", verdict::refusal_line(refused, refused, style)))
}
