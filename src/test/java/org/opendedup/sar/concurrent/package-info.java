/**
 * The concurrent model test: threads call one file system at random, and the history of what they called and were
 * answered is searched for an order in which one thread could have called the
 * {@link org.opendedup.sar.model.ModelFileSystem model} and been answered the same (linearizability).
 * {@link org.opendedup.sar.concurrent.Trial} runs short rounds of {@link org.opendedup.sar.concurrent.Call calls},
 * {@link org.opendedup.sar.concurrent.OrderSearch} looks for the order.
 */
package org.opendedup.sar.concurrent;
