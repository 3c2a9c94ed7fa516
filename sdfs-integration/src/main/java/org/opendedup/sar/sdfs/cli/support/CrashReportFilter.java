package org.opendedup.sar.sdfs.cli.support;

import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Replaces names in the lines of a crash report of the JVM ({@code hs_err_*.log}). What it shows of the memory is left
 * out: registers, stack and the objects that they point to may have any name in them.
 */
final class CrashReportFilter implements UnaryOperator<String> {
    private static final Pattern MEMORY =
            Pattern.compile("(?:Registers?|Top of Stack|Instructions|Stack slot to memory mapping)\\b.*");
    private static final String NEXT_PART = "---------------";
    /**
     * Lines that only the JVM makes: the signal, titles, and functions of libraries. These names are not ours, and say
     * nothing about files.
     */
    private static final Pattern PLAIN =
            Pattern.compile("(?:# )?[CVv]\\s+\\[[\\w.+-]+\\+0x[0-9a-f]+\\](?:\\s+[\\w:<>~$,*&()+ ]*)?"
                    + "|#? *(?:siginfo: si_signo: \\d+ \\()?SIG[A-Z]+\\b[\\w:=,() ]*"
                    + "|# Problematic frame:"
                    + "|-{15} [A-Z ]+-{15}");

    private final Placeholders names;
    private boolean inMemory;

    CrashReportFilter(Placeholders names) {
        this.names = names;
    }

    /** Returns the line; an empty one if it is left out. */
    @Override
    public String apply(String line) {
        if (names.keepsNames()) {
            return line;
        }
        boolean begins = MEMORY.matcher(line).matches();
        inMemory = begins || inMemory && !line.startsWith(NEXT_PART);
        if (inMemory) {
            return begins ? "(what the memory has is left out)" : "";
        }
        return PLAIN.matcher(line).matches() ? names.knownIn(line) : names.line(names.pathsIn(line));
    }
}
