package org.opendedup.sar.sdfs.health;

import java.nio.file.Path;

/**
 * The commands for a mounted volume of files.
 *
 * @param volume its name
 * @param log the daemon's log
 * @param hashDb folder of the fingerprint index
 */
record CommandRemedies(String volume, Path log, Path hashDb) implements Remedies {
    @Override
    public String by(String command, String bean, String operation) {
        return sdfscli(command);
    }

    private String sdfscli(String command) {
        return "sdfscli " + volume + " " + command;
    }

    @Override
    public String ofDamage() {
        return "List the files, and heal them: write the same content again, under any name, or attach an SSD"
                + " that has copies, if there is one";
    }

    @Override
    public String listDamage() {
        return sdfscli("damaged");
    }

    @Override
    public String unmount() {
        return sdfscli("unmount");
    }

    @Override
    public String ofRestored() {
        return "Check the files, and if you will not go back to the replaced metadata, give them up";
    }

    @Override
    public String emptyIndex() {
        return unmount() + " && find " + quoted(hashDb.toString()) + " -mindepth 1 -delete";
    }

    @Override
    public String logged(String text) {
        return "grep -a " + quoted(text) + " " + quoted(log.toString());
    }

    /** Quotes a text for a shell if needed. */
    private static String quoted(String text) {
        return text.matches("[A-Za-z0-9/._+:@%-]*") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
