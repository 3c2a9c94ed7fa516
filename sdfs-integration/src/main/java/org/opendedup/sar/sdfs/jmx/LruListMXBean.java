package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.tier.policy.TierSettings;

/**
 * Size and use of the LRU list. In JMX: {@code org.opendedup.sar:type=LruList,volume=<volume>}. Setters also store the
 * new value in the volume file. A setter throws an IllegalArgumentException for a value that is not allowed; its
 * message names the allowed values.
 */
@Description("List of the chunks most recently read from the disk (SAR paper §3.3)")
public interface LruListMXBean {
    @Description("Maximum number of entries; a change takes effect when the SSD is attached or the volume is mounted")
    @Unit("list items")
    @Range(min = "0", max = "" + TierSettings.LRU_ENTRIES_MAX)
    int getLruEntries();

    void setLruEntries(int lruEntries);

    @Description("Number of entries now")
    @Unit("list items")
    int getItems();

    @Description("Second reads found in the list since the volume was mounted")
    @Unit("chunks")
    long getHits();

    @Description("Memory of the list")
    @Unit("bytes")
    long getHeapBytes();
}
