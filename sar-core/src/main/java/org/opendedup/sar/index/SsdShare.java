package org.opendedup.sar.index;

/**
 * How an index and others share an SSD; all zeros if they do not.
 *
 * @param capacityBytes bound of all
 * @param indexBytes bytes that the files of the index have or need until they are closed
 * @param mostIndexBytes bytes that they may have now
 * @param mostOtherBytes bytes that the others may have now
 */
public record SsdShare(long capacityBytes, long indexBytes, long mostIndexBytes, long mostOtherBytes) {
    public static final SsdShare NONE = new SsdShare(0, 0, 0, 0);
}
