// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The options of an instance are the same in Java and in the native library. */
class DBOptionTest extends LavaTestBase {

    /** Not passed as numbers: passed as a handle, as bytes, or used only by the bindings. */
    private static final Set<String> NO_NUMBERS = Set.of("volume", "walDir", "eventBufferBytes");

    @Test
    void theNativeLibraryHasTheSameOptionsInTheSameOrderWithTheSameDefaults() throws Exception {
        List<String> java = new ArrayList<>();
        long[] defaults = DBOption.defaults();
        for (DBOption option : DBOption.values()) {
            java.add(option.nativeName() + " = " + defaults[option.ordinal()]);
        }
        List<String> library = new ArrayList<>();
        Decoder in = new Decoder(LavaLibrary.dbOptions0());
        int count = in.int32();
        for (int i = 0; i < count; i++) {
            library.add(in.string() + " = " + in.int64());
        }
        assertThat(java)
                .as("DBOption.java, beside db_options.h with the defaults of lava/options.h")
                .isEqualTo(library);
    }

    @Test
    void everyOptionHasAGetterASetterAndAPlaceOfItsOwn() throws Exception {
        Set<String> set = new TreeSet<>();
        for (Method setter : DBOptions.class.getMethods()) {
            String name = setter.getName();
            if (name.startsWith("set")) {
                String getter = Character.toLowerCase(name.charAt(3)) + name.substring(4);
                if (!NO_NUMBERS.contains(getter)) {
                    DBOption option = changedBy(setter, DBOptions.class.getMethod(getter));
                    assertThat(set.add(option.nativeName()))
                            .as("%s sets %s", name, option)
                            .isTrue();
                }
            }
        }
        Set<String> all = new TreeSet<>();
        for (DBOption option : DBOption.values()) {
            all.add(option.nativeName());
        }
        assertThat(set).as("options that setters of DBOptions set").isEqualTo(all);
    }

    @Test
    void settersRefuseNull() {
        for (Method setter : DBOptions.class.getMethods()) {
            if (setter.getName().startsWith("set") && setter.getParameterTypes()[0].isEnum()) {
                assertThatThrownBy(() -> setter.invoke(new DBOptions(), (Object) null))
                        .as(setter.getName())
                        .hasCauseInstanceOf(NullPointerException.class);
            }
        }
    }

    /** The one option whose number the setter changes, with a value that the getter returns. */
    private static DBOption changedBy(Method setter, Method getter) throws Exception {
        DBOptions options = new DBOptions();
        long[] before = options.toNative();
        Object other = otherThan(getter.invoke(options));
        setter.invoke(options, other);
        assertThat(getter.invoke(options)).as(getter.getName()).isEqualTo(other);
        long[] after = options.toNative();
        List<DBOption> changed = new ArrayList<>();
        for (DBOption option : DBOption.values()) {
            if (before[option.ordinal()] != after[option.ordinal()]) {
                changed.add(option);
            }
        }
        assertThat(changed).as("changed by %s", setter.getName()).hasSize(1);
        return changed.get(0);
    }

    private static Object otherThan(Object value) {
        if (value instanceof Integer) {
            return (Integer) value + 1;
        }
        if (value instanceof Long) {
            return (Long) value - 1 < 0 ? 1L : (Long) value - 1;
        }
        if (value instanceof Boolean) {
            return !(Boolean) value;
        }
        Object[] constants = value.getClass().getEnumConstants();
        return constants[constants.length - 1];
    }
}
