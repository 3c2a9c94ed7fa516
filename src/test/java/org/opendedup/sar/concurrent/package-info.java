/**
 * The concurrent model test: threads call one file system at random. The history of their calls and results is searched
 * for an order in which one thread could have called the {@link org.opendedup.sar.model.ModelFileSystem model} with the
 * same results (linearizability). {@link org.opendedup.sar.concurrent.Trial} runs short rounds of
 * {@link org.opendedup.sar.concurrent.Call calls}, {@link org.opendedup.sar.concurrent.OrderSearch} searches the order.
 */
package org.opendedup.sar.concurrent;
