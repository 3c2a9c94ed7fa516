/**
 * The model test: random file system calls, from a seed, against a whole volume and against a plain in-memory file
 * system. {@link org.opendedup.sar.model.OpGenerator} makes {@link org.opendedup.sar.model.Op ops},
 * {@link org.opendedup.sar.model.OpRunner} carries each out on a {@link org.opendedup.sar.model.FileSystem},
 * {@link org.opendedup.sar.model.Comparison} runs the same ops on both, compares what they answer, and shrinks what
 * differs.
 */
package org.opendedup.sar.model;
