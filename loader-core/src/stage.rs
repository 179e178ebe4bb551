//! S4 and S5: building, copying, relocating and registering (staging.md).
