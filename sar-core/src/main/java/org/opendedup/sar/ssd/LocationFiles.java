package org.opendedup.sar.ssd;

/** Names of the files and folders of an SSD location (docs/FORMAT.md). */
final class LocationFiles {
    /** File that names the volume: {@link SsdIdentity}. */
    static final String IDENTITY = "sar.id";
    /** Folder of the log's segment files. */
    static final String SEGMENTS = "segments";
    /** Folder of the Map table's database. */
    static final String MAP = "map";
    /**
     * Lock file, held while a thread of this program may write at the location: also after {@link SsdStore#close}, if
     * the SSD hangs.
     */
    static final String LOCK = "sar.lock";

    /**
     * Folder of a volume's raw files, of which there may be no other copy. This package never touches it; a new SSD may
     * have it before it is used for copies.
     */
    static final String RAW = "raw";

    private LocationFiles() {}
}
