package org.opendedup.sar.sdfs.cli.command;

import java.util.List;
import java.util.function.Consumer;

/** A command that also understands how another program spells its arguments. */
public interface Spellings {
    /**
     * Returns the arguments as the command spells them.
     *
     * @param notes receives what the user should know: what was left out, and why
     * @throws IllegalArgumentException if an argument asks for what is not supported; the message says what to do
     */
    List<String> translated(List<String> arguments, Consumer<String> notes);
}
