/**
 * The differential test: random file system calls, from a seed, on a mounted volume and on ext4 beside it.
 * {@link org.opendedup.sar.differential.OpLines} makes lines such as {@code 1000 022 mkdir ./a 2755}; a
 * {@link org.opendedup.sar.differential.Hand}, one for each of the two, carries them out and tells what came of each;
 * {@link org.opendedup.sar.differential.Trial} compares the two answers, but for
 * {@link org.opendedup.sar.differential.KnownDifference}.
 */
package org.opendedup.sar.differential;
