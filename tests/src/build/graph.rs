//! The members of the root: `neff.json`, the KELF and `info.json`.

use super::{Tree, json_bytes};
use serde_json::{Map, Value, json};

/// One input or output of the graph.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Name.
    pub name: String,
    /// Element type, as in `neff.json`.
    pub dtype: &'static str,
    /// Shape in elements.
    pub shape: Vec<u64>,
}

impl Tensor {
    /// A tensor.
    #[must_use]
    pub fn new(name: &str, dtype: &'static str, shape: &[u64]) -> Self {
        Self { name: name.to_owned(), dtype, shape: shape.to_vec() }
    }
}

/// The graph around one kernel.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Kernel inputs, in argument order.
    pub inputs: Vec<Tensor>,
    /// Kernel outputs.
    pub outputs: Vec<Tensor>,
    /// Subgraphs: one per core of the logical core.
    pub cores: usize,
    /// `target` of the KELF; `None` leaves the key out, as Inf1 compilers do.
    pub target: Option<&'static str>,
    /// Whether the KELF has the empty `revision` that some compilers write.
    pub revision: bool,
    /// Compiler version in `info.json`.
    pub tool_version: &'static str,
    /// Model name in `info.json`.
    pub name: &'static str,
}

impl Graph {
    /// The root's members. Outputs are listed once per core, as compilers do.
    #[must_use]
    pub fn members(&self) -> Tree {
        let mut tree = Tree::new();
        let kelf = if self.target.is_some() { "kelf-0.json" } else { "kelf-a.json" };
        tree.insert("neff.json".to_owned(), json_bytes(&self.neff(kelf)));
        tree.insert(kelf.to_owned(), json_bytes(&self.kelf()));
        tree.insert("info.json".to_owned(), json_bytes(&self.info()));
        tree
    }

    fn listed_outputs(&self) -> Vec<&Tensor> {
        (0..self.cores).flat_map(|_| &self.outputs).collect()
    }

    fn kernel(&self, kelf: &str) -> Value {
        let outputs = self.listed_outputs();
        json!({
            "op": "tvm_op",
            "name": if self.target.is_some() { "sg_coreV10" } else { "sg_tonga0" },
            "attrs": {
                "func_name": "__kelf", "flatten_data": "0", "num_inputs": self.inputs.len().to_string(),
                "kelf": kelf, "num_outputs": outputs.len().to_string(),
            },
            "inputs": (0..self.inputs.len()).map(|n| json!([n, 0, 0])).collect::<Vec<_>>(),
            "output_names": outputs.iter().map(|tensor| &tensor.name).collect::<Vec<_>>(),
        })
    }

    fn neff(&self, kelf: &str) -> Value {
        let arguments = self.inputs.iter().map(|tensor| {
            json!({"op": "null", "name": tensor.name, "inputs": [], "output_names": [tensor.name], "is_param": "0"})
        });
        let nodes: Vec<Value> = arguments.chain([self.kernel(kelf)]).collect();
        let outputs = self.listed_outputs();
        let tensors: Vec<&Tensor> = self.inputs.iter().chain(outputs.iter().copied()).collect();
        let count = self.inputs.len();
        let rows: Vec<usize> = (0..=count).chain([tensors.len()]).collect();
        let heads: Vec<Value> = (0..outputs.len()).map(|n| json!([count, n, 0])).collect();
        let mut signature = Map::new();
        for (id, tensor) in self.inputs.iter().enumerate() {
            signature
                .insert(tensor.name.clone(), json!({"id": id, "dtype": tensor.dtype, "shape": tensor.shape}));
        }
        json!({
            "nodes": nodes,
            "arg_nodes": (0..count).collect::<Vec<_>>(),
            "heads": heads,
            "attrs": {
                "shape": ["list_shape", tensors.iter().map(|tensor| &tensor.shape).collect::<Vec<_>>()],
                "storage_id": ["list_int", (0..tensors.len()).collect::<Vec<_>>()],
                "dltype": ["list_str", tensors.iter().map(|tensor| tensor.dtype).collect::<Vec<_>>()],
            },
            "node_row_ptr": rows,
            "metadata": {"signatures": {"default": {"inputs": signature, "outputs": {}}}},
        })
    }

    fn kelf(&self) -> Value {
        let graphs: Vec<Value> = (0..self.cores)
            .map(|n| json!({"definition": format!("sg{n:02}/def.json"), "name": format!("sg{n:02}")}))
            .collect();
        let mut kelf = json!({"graphs": graphs, "version": "0.5"});
        if let Some(target) = self.target {
            kelf["target"] = json!(target);
        }
        if self.revision {
            kelf["revision"] = json!("");
        }
        kelf
    }

    fn info(&self) -> Value {
        let nodes: Vec<u32> = (0..64).map(|n| u32::from(n == 0)).collect();
        json!({
            "tool_version": self.tool_version, "kelp_version": "Dynamic", "name": self.name,
            "num_tpb": 1, "num_tpb_requested": 1, "num_tpb_per_node": nodes,
        })
    }
}
