package org.opendedup.sar.sdfs.jmx;

/** Size of the Map table. In JMX: {@code org.opendedup.sar:type=MapTable,volume=<volume>}. */
@Description("Places of promoted chunks on the SSD (SAR paper §3.3)")
public interface MapTableMXBean {
    @Description("Chunks on the SSD")
    @Unit("Map table entries")
    long getEntries();

    @Description("Largest number of entries that the memory budget allows")
    @Unit("Map table entries")
    long getMaxEntries();

    @Description("Memory of the table, free places included")
    @Unit("bytes")
    long getHeapBytes();

    @Description("Memory of the table for each entry; 0 if the table is empty")
    @Unit("bytes an entry")
    double getBytesPerEntry();
}
