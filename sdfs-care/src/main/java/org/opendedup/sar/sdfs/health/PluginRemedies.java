package org.opendedup.sar.sdfs.health;

import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/**
 * What an administrator of an SDFS volume with the plugin does: commands, and operations of the MXBeans in SDFS's
 * process where there is no command, or the process answers none.
 *
 * @param volume name of the volume for the commands
 * @param bean name of the volume in JMX
 * @param index folder of the fingerprint index
 * @param answersCommands whether the process answers commands
 */
public record PluginRemedies(String volume, String bean, Path index, BooleanSupplier answersCommands)
        implements Remedies {
    @Override
    public String by(String command, String type, String operation) {
        return answersCommands.getAsBoolean() ? "sdfscli " + volume + " " + command : bean(type, operation);
    }

    private String bean(String type, String operation) {
        return operation + " of org.opendedup.sar:type=" + type + ",volume=" + bean;
    }

    @Override
    public String ofDamage() {
        return "Write the same content again, in any file, or attach an SSD that has copies, if there is one;"
                + " then heal. Restore files that give errors from a backup";
    }

    /** There is no command: it would list files. */
    @Override
    public String listDamage() {
        return bean("Heal", "listDamage");
    }

    @Override
    public String unmount() {
        return "unmount the SDFS volume";
    }

    @Override
    public String ofRestored() {
        return "If SDFS has written, copied and deleted no file since the backup, give up the replaced metadata."
                + " Otherwise copy all files to another volume: counts of the backup are not those of the files";
    }

    @Override
    public String emptyIndex() {
        return "unmount the SDFS volume, and delete what is in " + index;
    }

    @Override
    public String logged(String text) {
        return "look for '" + text + "' in the output of SDFS's process";
    }
}
