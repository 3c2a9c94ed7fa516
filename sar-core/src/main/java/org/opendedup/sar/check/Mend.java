package org.opendedup.sar.check;

import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.metadata.record.MetadataHeader.Contents;

/**
 * What to do about findings, for the volume's administrator: whole commands, to be entered as they are.
 *
 * @param volume the volume's name
 * @param inUse whether it is mounted
 * @param contents what it stores: a volume of chunks is unmounted by its client, and its counts cannot be repaired by
 *     recipes
 */
public record Mend(String volume, boolean inUse, Contents contents) {
    /** For a volume of files. */
    public Mend(String volume, boolean inUse) {
        this(volume, inUse, Contents.FILES);
    }

    /**
     * Returns what mends a finding.
     *
     * @param place of a missing pack: the pack; of a finding about the index: the index's folder; else not used
     */
    public String of(Kind kind, String place) {
        return switch (kind) {
            case MISSING_PACK -> bringBack(place);
            case PACK_HEADER, CONTAINER_HEADER ->
                "check the disk, then verify what it returns: " + scrub()
                        + ". The volume reads its files without the header";
            case MISSING_CONTAINER, MISSING_CHUNKS, WRONG_ENTRY, DAMAGED_ENTRY, NO_ENTRY, SUMMARY ->
                unmounted("--rebuild-containers");
            case DAMAGED_COUNTS, REFERENCES, NAMES -> unmounted(hasFiles() ? "--repair" : "--restore-metadata");
            case DAMAGED_CHUNKS ->
                mounted("heal --wait")
                        + ". What stays damaged then: write the files' content again from a backup, under any"
                        + " name, or delete the files";
            case WRONG_REFERENCE -> files();
            case DAMAGED_RECORD -> salvage();
            case RECEIVE ->
                "send the snapshot again to: sdfscli " + volume + " receive, which goes on where it was. Or give it up:"
                        + " sdfscli " + volume + " receive --abort";
            case ROLLBACK ->
                "mount the volume, which finishes the rollback before it serves anything. Or go elsewhere instead:"
                        + " sdfscli " + volume + " snapshot rollback NAME --discard";
            case INDEX -> newIndex(place);
            case SSD -> scrub();
            case NOT_CHECKED -> "remove the cause that the finding names, then: " + again();
            case STRAYS -> mounted("gc");
            case DAMAGED_OBJECT -> scrub();
            case LEFT_OBJECTS -> unmounted(hasFiles() ? "--repair" : "--rebuild-containers");
        };
    }

    String of(Kind kind) {
        return of(kind, "");
    }

    /** Returns what to do about files that refer to other content than was written. */
    private String files() {
        return "restore the files from a backup, or delete them, then: " + again();
    }

    /** Returns what to do about chunks that are known to be lost. */
    String lost() {
        return (inUse ? "" : "mount the volume, ") + writeAgain() + ". Or delete the files, then: " + again();
    }

    private String writeAgain() {
        return "write the files' content again from a backup, under any name, then: sdfscli " + volume + " heal --wait";
    }

    /** Returns what to do about records, or blocks of records, that cannot be read. */
    String salvage() {
        return unmounted("--salvage-metadata") + ", which loses nothing; if the finding stays: "
                + (hasFiles()
                        ? unmounted("--salvage-metadata=records") + ", which says what is lost"
                        : unmounted("--restore-metadata"));
    }

    private String bringBack(String pack) {
        return "bring back " + pack + ", then: " + again() + ". If it is lost: " + scrub() + ", " + writeAgain();
    }

    private String newIndex(String folder) {
        String emptied = "find '" + folder.replace("'", "'\\''") + "' -mindepth 1 -delete";
        return unmount() + emptied + "; the next mount makes the index anew from the containers";
    }

    private String again() {
        return inUse ? mounted("check") : "sdfs-check " + volume;
    }

    private String unmounted(String option) {
        return unmount() + "sdfs-check " + volume + " " + option;
    }

    private String unmount() {
        if (!inUse) {
            return "";
        }
        return hasFiles() ? "sdfscli " + volume + " unmount && " : "unmount the volume, then: ";
    }

    private String scrub() {
        return mounted("scrub start --wait");
    }

    private String mounted(String command) {
        return (inUse ? "" : "mount the volume, then: ") + "sdfscli " + volume + " " + command;
    }

    private boolean hasFiles() {
        return contents == Contents.FILES;
    }
}
