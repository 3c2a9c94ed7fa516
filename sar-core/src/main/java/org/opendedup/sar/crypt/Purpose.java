package org.opendedup.sar.crypt;

/**
 * What a derived key is for. The name goes into the derivation (RFC 5869, the {@code info} of HKDF-Expand), so the keys
 * of two purposes have nothing to do with each other. Names are part of the format.
 */
public enum Purpose {
    /** Authenticates the key header. */
    HEADER,
    /** Frames and directories of containers; a key for each writing of a container. */
    CONTAINERS,
    /** Values of the metadata database. */
    RECORDS,
    /** Names of files and extended attributes in keys of the metadata database. */
    NAMES,
    /** Fingerprints as indexes have them. */
    FINGERPRINTS,
    /** Records on the SSD; a key for each segment file. */
    SSD,
    /** Files on the fast tier. */
    RAW,
    /** The table with which content is cut into chunks. */
    CUTTING,
    /** Authenticates the lists of metadata backups. */
    LISTS,
    /** Files that a running job makes and deletes. */
    SCRATCH,
    /** Streams of snapshots; a key for each stream. */
    STREAM
}
