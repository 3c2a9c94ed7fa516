package org.opendedup.sar.sdfs.cli.command;

import picocli.CommandLine.IVersionProvider;

/** Returns the program's version from the jar's manifest. */
public final class ProgramVersion implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"SAR for SDFS " + text()};
    }

    /** Returns the version alone. */
    public static String text() {
        String version = ProgramVersion.class.getPackage().getImplementationVersion();
        return version == null ? "(run from class files)" : version;
    }
}
