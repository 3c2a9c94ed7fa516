package org.opendedup.sar.sdfs.health;

import java.nio.file.Path;

/**
 * What an administrator of an SDFS volume with the plugin does: operations of the MXBeans in SDFS's process.
 *
 * @param volume name of the volume in JMX
 * @param index folder of the fingerprint index
 */
public record BeanRemedies(String volume, Path index) implements Remedies {
    private String bean(String type, String operation) {
        return operation + " of org.opendedup.sar:type=" + type + ",volume=" + volume;
    }

    @Override
    public String ofDamage() {
        return "Write the same content again, in any file, or attach the SSD that has copies; then heal. Restore files"
                + " that give errors from a backup";
    }

    @Override
    public String listDamage() {
        return bean("Heal", "listDamage");
    }

    @Override
    public String heal() {
        return bean("Heal", "start");
    }

    @Override
    public String resume() {
        return bean("Volume", "resume");
    }

    @Override
    public String unmount() {
        return "unmount the SDFS volume";
    }

    @Override
    public String collect() {
        return bean("GarbageCollector", "start");
    }

    @Override
    public String ofRestored() {
        return "If SDFS has written, copied and deleted no file since the backup, give up the replaced metadata."
                + " Otherwise copy all files to another volume: counts of the backup are not those of the files";
    }

    @Override
    public String acceptRestored() {
        return bean("MetadataBackup", "acceptRestored");
    }

    @Override
    public String attachSsd() {
        return bean("SsdLog", "attach");
    }

    @Override
    public String ssdStatus() {
        return "State of org.opendedup.sar:type=SsdLog,volume=" + volume;
    }

    @Override
    public String scrub() {
        return bean("Scrub", "start");
    }

    @Override
    public String check() {
        return bean("Check", "start");
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
