package org.opendedup.sar.sdfs.health;

/** How an administrator of a volume does what a finding asks for. */
public interface Remedies {
    /**
     * Returns a command of sdfscli for the volume, or the operation of a bean where its process answers no commands.
     *
     * @param command without the name of the volume
     * @param bean kind of the bean in JMX
     * @param operation its operation or attribute
     */
    String by(String command, String bean, String operation);

    default String collect() {
        return by("gc --wait", "GarbageCollector", "start");
    }

    default String check() {
        return by("check", "Check", "start");
    }

    default String listBackups() {
        return by("metadata-backup --list", "MetadataBackup", "Backups");
    }

    /** Says what mends damaged chunks, as one sentence without its full stop. */
    String ofDamage();

    String listDamage();

    String unmount();

    /** Says what to do after the metadata were restored, as one sentence without its full stop. */
    String ofRestored();

    /** Unmounts the volume and empties the location of its index. */
    String emptyIndex();

    /** Shows the lines of the log that have a text. */
    String logged(String text);
}
