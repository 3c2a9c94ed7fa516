package org.opendedup.sar.sdfs.health;

/** How an administrator of a volume does what a finding asks for: exact commands, or calls of MXBeans. */
public interface Remedies {
    /** Says what mends damaged chunks, as one sentence without its full stop. */
    String ofDamage();

    String listDamage();

    String heal();

    /** Makes the volume accept changes again. */
    String resume();

    String unmount();

    String collect();

    /** Says what to do after the metadata were restored, as one sentence without its full stop. */
    String ofRestored();

    /** Gives up the metadata that were replaced by restored ones. */
    String acceptRestored();

    /** Lists the automatic backups of the metadata. */
    String listBackups();

    String attachSsd();

    String ssdStatus();

    String scrub();

    String check();

    /** Unmounts the volume and empties the location of its index. */
    String emptyIndex();

    /** Shows the lines of the log that have a text. */
    String logged(String text);
}
