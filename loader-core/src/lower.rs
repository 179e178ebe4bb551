//! S3: lowering definitions into kbin records (lowering.md).
