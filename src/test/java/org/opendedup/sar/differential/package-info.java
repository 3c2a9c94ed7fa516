/**
 * The differential test: random file system calls, from a seed, on a mounted volume and on ext4.
 * {@link org.opendedup.sar.differential.OpLines} makes lines such as {@code 1000 022 mkdir ./a 2755}; a
 * {@link org.opendedup.sar.differential.Hand}, one for each of the two, executes them and reports the results;
 * {@link org.opendedup.sar.differential.Trial} compares the results, except for
 * {@link org.opendedup.sar.differential.KnownDifference}.
 */
package org.opendedup.sar.differential;
