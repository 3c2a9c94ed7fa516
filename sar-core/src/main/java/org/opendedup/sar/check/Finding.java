package org.opendedup.sar.check;

import java.util.List;

/**
 * Something that a check found.
 *
 * @param severity how bad it is
 * @param kind which kind of finding it is; docs/operations/damage.md explains each
 * @param what what was found, as a sentence without a full stop
 * @param containers ids of the containers concerned, in ascending order; at most {@value #MAX_CONTAINERS}
 * @param files the files of which bytes cannot be read for this reason
 * @param mend the command that mends it, or what to do if no command does; empty if nothing has to be done
 */
public record Finding(
        Severity severity, Kind kind, String what, List<Long> containers, List<DamagedFile> files, String mend) {
    /** Maximum number of containers that a finding names. */
    static final int MAX_CONTAINERS = 1000;

    /** How bad a finding is, the worst last. */
    public enum Severity {
        /** No defect. */
        NOTE,
        /** Something is not as it should be, and no byte of a file is lost for it. */
        DEFECT,
        /** Bytes of files cannot be read. */
        LOSS
    }

    /** What a finding is about. */
    public enum Kind {
        /** A pack in the container table is missing, or cannot be opened. */
        MISSING_PACK,
        /** The header of a pack is damaged. */
        PACK_HEADER,
        /** The container table has no such container in that place. */
        MISSING_CONTAINER,
        /** The header of a container is damaged. */
        CONTAINER_HEADER,
        /** Chunks that are counted as stored are not in their container. */
        MISSING_CHUNKS,
        /** Chunks that files refer to are known to be damaged. */
        DAMAGED_CHUNKS,
        /** An entry of the container table does not describe its container. */
        WRONG_ENTRY,
        /** A record of the container table cannot be decoded. */
        DAMAGED_ENTRY,
        /** A container has counts and no entry in the container table. */
        NO_ENTRY,
        /** The count record of a container cannot be decoded. */
        DAMAGED_COUNTS,
        /** The totals of the container table are not those of its entries. */
        SUMMARY,
        /** References, counts, inodes or totals do not agree. */
        REFERENCES,
        /** A recipe refers to a chunk that its container does not have, or has with other content or length. */
        WRONG_REFERENCE,
        /** A record of an inode, of a name or of a recipe cannot be decoded, or the database cannot read its table. */
        DAMAGED_RECORD,
        /** Names, inodes and directories do not agree. */
        NAMES,
        /** A rollback to a snapshot is not finished, so the files are partly as they were before. */
        ROLLBACK,
        /** A snapshot is not received to its end, so the files are partly as they were before. */
        RECEIVE,
        /** Entries of the fingerprint index name other content, or chunks that are not stored. */
        INDEX,
        /** Entries of the SSD's Map table name chunks that are not stored. */
        SSD,
        /** A part of the check could not run. */
        NOT_CHECKED,
        /** Space in the packs that belongs to no container. */
        STRAYS,
        /** An object in the store is missing, or has other bytes than were put. */
        DAMAGED_OBJECT,
        /** Objects in the store that nothing reads. */
        LEFT_OBJECTS
    }
}
