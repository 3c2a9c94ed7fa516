package org.opendedup.sar.check;

/**
 * What to do about findings, as commands for the volume's administrator.
 *
 * @param volume the volume's name
 */
record Mend(String volume) {
    String rebuilding() {
        return "sdfs-check " + volume + " --rebuild-containers";
    }

    String collection() {
        return "sdfscli " + volume + " gc";
    }

    String bringBack(String file) {
        return "bring back " + file + ", then: sdfs-check " + volume
                + ". If it is lost, restore the files from a backup";
    }

    String disk() {
        return "check the disk. No command is needed: the volume reads this container";
    }

    String files() {
        return "restore the files from a backup; rewriting or deleting them ends this finding";
    }

    String repair() {
        return "unmount the volume, then: sdfs-check " + volume + " --repair";
    }

    String metadata() {
        return "restore the metadata and the containers from a backup; no command mends this";
    }
}
