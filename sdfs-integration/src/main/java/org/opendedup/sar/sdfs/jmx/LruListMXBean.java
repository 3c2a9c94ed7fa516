package org.opendedup.sar.sdfs.jmx;

/**
 * Size and use of the LRU list. In JMX: {@code org.opendedup.sar:type=LruList,volume=<volume>}. What is set is kept in
 * the volume file; a value that is not allowed throws an IllegalArgumentException that says what is.
 */
@Description("The chunks lately read from the disk (SAR paper §3.3)")
public interface LruListMXBean {
    @Description("Length of the list; a change takes effect when the SSD is attached or the volume mounted")
    @Unit("list items")
    int getLruEntries();

    void setLruEntries(int lruEntries);

    @Description("Items remembered now")
    @Unit("list items")
    int getItems();

    @Description("Second reads found in the list since the volume was mounted")
    @Unit("chunks")
    long getHits();

    @Description("Memory of the list")
    @Unit("bytes")
    long getHeapBytes();
}
