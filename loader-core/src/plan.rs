//! S4: the place of every variable, ring, table and image in device memory (staging.md §7, §8).
