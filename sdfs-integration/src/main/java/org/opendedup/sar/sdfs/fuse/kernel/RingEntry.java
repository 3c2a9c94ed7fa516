package org.opendedup.sar.sdfs.fuse.kernel;

/**
 * A place for one request at a time in a queue of the kernel. It lasts until the file system is unmounted.
 *
 * @param queue number of the queue, which is that of its processor
 * @param mapping where the kernel puts a request and takes the reply
 */
record RingEntry(int queue, Mapping mapping) {}
