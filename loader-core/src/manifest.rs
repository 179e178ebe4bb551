//! S2: the manifest chain, from the graph manifest to the engine files (manifests.md).
