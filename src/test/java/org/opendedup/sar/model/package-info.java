/**
 * The model test: random file system calls, from a seed, on a whole volume and on a plain in-memory file system.
 * {@link org.opendedup.sar.model.OpGenerator} makes {@link org.opendedup.sar.model.Op ops},
 * {@link org.opendedup.sar.model.OpRunner} executes each on a {@link org.opendedup.sar.model.FileSystem},
 * {@link org.opendedup.sar.model.Comparison} runs the same ops on both, compares the results, and shrinks a list with a
 * difference.
 */
package org.opendedup.sar.model;
