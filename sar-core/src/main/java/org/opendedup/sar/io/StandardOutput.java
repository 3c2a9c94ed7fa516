package org.opendedup.sar.io;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;

/** The output of a program for its caller. */
public final class StandardOutput {
    private StandardOutput() {}

    /** Returns the process's standard output. Its writes throw on failure; {@link System#out} hides failures. */
    public static OutputStream stream() {
        return new FileOutputStream(FileDescriptor.out);
    }
}
