package org.opendedup.sar.sdfs.cli.daemon;

import com.github.luben.zstd.util.Native;

/**
 * The files that this process consists of. A JVM opens a jar when it first looks for a class in it, which may be hours
 * after its start. If another version of the program had been installed meanwhile, the daemon would mix both, or find
 * no class. What is open does not change: installing replaces files and writes into none.
 */
final class ProgramFiles {
    private ProgramFiles() {}

    /** Opens all jars of the class path, and loads the native libraries, for as long as the process runs. */
    static void hold() {
        // What no jar has is looked for in each, and the class loader keeps each open that it has looked into.
        var unused = ClassLoader.getSystemResource("META-INF/in-no-jar");
        // The others are loaded when a volume is opened.
        Native.load();
    }
}
