package org.opendedup.sar.sdfs.jmx;

/**
 * The figures of a volume of chunks: {@code org.opendedup.sar:type=Volume,volume=<volume>} in the process of an SDFS
 * with the plugin. The names are those that a mounted volume of files has.
 */
@Description("A volume of chunks: the chunk store of an SDFS volume")
public interface ChunkVolumeMXBean extends ChunkFigures {
    @Description("Makes the volume accept changes again, after a failed write of which the cause is removed; returns "
            + "false if it accepted them")
    @Unit("true or false")
    boolean resume();
}
