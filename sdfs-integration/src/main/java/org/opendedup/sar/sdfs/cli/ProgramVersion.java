package org.opendedup.sar.sdfs.cli;

import picocli.CommandLine.IVersionProvider;

/** The program's version, as the jar's manifest has it. */
final class ProgramVersion implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"SAR for SDFS " + text()};
    }

    static String text() {
        String version = ProgramVersion.class.getPackage().getImplementationVersion();
        return version == null ? "(run from class files)" : version;
    }
}
